// The one door to librdkafka: the public API and the embedded mock cluster (used by `linkd demo` and by tests).
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
