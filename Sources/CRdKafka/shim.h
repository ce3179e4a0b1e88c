// The API of librdkafka: its public functions, and the mock cluster that `linkd demo` and the tests use.
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
