// The API of librdkafka: its public functions, and the mock cluster that `linkd demo` and the tests use.
#include <dlfcn.h>
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

// The ids of topics, which librdkafka has since 2.3.0. Its functions are looked up by name, because older headers do
// not declare them, and because a program that is built with newer ones must start with an older library.

/// Returns the address of a function of the loaded libraries, or NULL.
static inline void *linkd_kafka_function(const char *name) {
#if defined(RTLD_DEFAULT)
    return dlsym(RTLD_DEFAULT, name);
#else
    // glibc and musl, without `_GNU_SOURCE`.
    return dlsym((void *)0, name);
#endif
}

/// Returns whether the library knows the ids of topics.
static inline int linkd_kafka_has_topic_ids(void) {
    return linkd_kafka_function("rd_kafka_DescribeTopics") && linkd_kafka_function("rd_kafka_Uuid_base64str") &&
           linkd_kafka_function("rd_kafka_TopicDescription_topic_id");
}

/// Requests descriptions of topics, whose answer is an event of the queue.
///
/// Returns 0 if the library knows no ids of topics.
static inline int linkd_kafka_describe_topics(rd_kafka_t *client, const char **names, size_t count,
                                              const rd_kafka_AdminOptions_t *options, rd_kafka_queue_t *queue) {
    if (!linkd_kafka_has_topic_ids()) return 0;
    void *(*collection)(const char **, size_t) =
        (void *(*)(const char **, size_t))linkd_kafka_function("rd_kafka_TopicCollection_of_topic_names");
    void (*destroy)(void *) = (void (*)(void *))linkd_kafka_function("rd_kafka_TopicCollection_destroy");
    void (*describe)(rd_kafka_t *, const void *, const rd_kafka_AdminOptions_t *, rd_kafka_queue_t *) =
        (void (*)(rd_kafka_t *, const void *, const rd_kafka_AdminOptions_t *, rd_kafka_queue_t *))
            linkd_kafka_function("rd_kafka_DescribeTopics");
    if (!collection || !destroy || !describe) return 0;
    void *topics = collection(names, count);
    describe(client, topics, options, queue);
    destroy(topics);
    return 1;
}

/// Returns the descriptions in an answer, which are valid as long as the event.
static inline const void *const *linkd_kafka_described_topics(rd_kafka_event_t *event, size_t *count) {
    const void *(*result)(rd_kafka_event_t *) =
        (const void *(*)(rd_kafka_event_t *))linkd_kafka_function("rd_kafka_event_DescribeTopics_result");
    const void *const *(*topics)(const void *, size_t *) = (const void *const *(*)(const void *, size_t *))
        linkd_kafka_function("rd_kafka_DescribeTopics_result_topics");
    *count = 0;
    const void *found = result ? result(event) : NULL;
    return found && topics ? topics(found, count) : NULL;
}

/// Returns the name of a described topic, or NULL.
static inline const char *linkd_kafka_described_name(const void *topic) {
    const char *(*name)(const void *) =
        (const char *(*)(const void *))linkd_kafka_function("rd_kafka_TopicDescription_name");
    return name ? name(topic) : NULL;
}

/// Returns the id of a described topic as text, or NULL for a topic that could not be described.
static inline const char *linkd_kafka_described_id(const void *topic) {
    const rd_kafka_error_t *(*error)(const void *) =
        (const rd_kafka_error_t *(*)(const void *))linkd_kafka_function("rd_kafka_TopicDescription_error");
    const void *(*id)(const void *) =
        (const void *(*)(const void *))linkd_kafka_function("rd_kafka_TopicDescription_topic_id");
    const char *(*text)(const void *) = (const char *(*)(const void *))linkd_kafka_function("rd_kafka_Uuid_base64str");
    if (!error || !id || !text) return NULL;
    const rd_kafka_error_t *failure = error(topic);
    if (failure && rd_kafka_error_code(failure) != RD_KAFKA_RESP_ERR_NO_ERROR) return NULL;
    const void *found = id(topic);
    return found ? text(found) : NULL;
}
