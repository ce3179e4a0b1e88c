// The API of libmicrohttpd, and functions for its macros, variadic functions, and unions, which Swift cannot use.
//
// Constants are variables here, because the type of libmicrohttpd's enumerations differs between its versions.
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

typedef enum MHD_Result linkd_http_result;

static const linkd_http_result linkd_http_yes = MHD_YES;
static const linkd_http_result linkd_http_no = MHD_NO;
static const int64_t linkd_http_end_of_stream = -1;
static const int64_t linkd_http_end_with_error = -2;

/// The functions that the library calls, all on the thread that calls `linkd_http_turn`.
struct linkd_http_callbacks {
    void *context;
    MHD_AccessHandlerCallback access;
    void *(*target)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback notify;
};

/// Leaves percent-encoding as it is, because the server decodes the target itself.
static inline size_t linkd_http_keep_escapes(void *context, struct MHD_Connection *connection, char *text) {
    (void)context;
    (void)connection;
    return strlen(text);
}

/// Starts a daemon without threads and without a listening socket.
///
/// The daemon uses TLS 1.2 or 1.3 if there is a certificate. The texts must live as long as the daemon.
static inline struct MHD_Daemon *linkd_http_start(
    const struct linkd_http_callbacks *callbacks, size_t memory_bytes, unsigned int connections,
    const char *certificate, const char *key) {
    unsigned int flags = MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME;
    struct MHD_OptionItem tls[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)certificate},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)key},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, (void *)"NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2"},
        {MHD_OPTION_END, 0, NULL}};
    struct MHD_OptionItem plain[] = {{MHD_OPTION_END, 0, NULL}};
    if (certificate != NULL) flags |= MHD_USE_TLS;
    if (MHD_is_feature_supported(MHD_FEATURE_EPOLL) == MHD_YES) flags |= MHD_USE_EPOLL;
    return MHD_start_daemon(
        flags, 0, NULL, NULL, callbacks->access, callbacks->context,
        MHD_OPTION_ARRAY, certificate != NULL ? tls : plain,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_bytes,
        MHD_OPTION_CONNECTION_LIMIT, connections,
        MHD_OPTION_CONNECTION_TIMEOUT, 0u,
        MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_URI_LOG_CALLBACK, callbacks->target, callbacks->context,
        MHD_OPTION_UNESCAPE_CALLBACK, linkd_http_keep_escapes, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, callbacks->completed, callbacks->context,
        MHD_OPTION_NOTIFY_CONNECTION, callbacks->notify, callbacks->context,
        MHD_OPTION_END);
}

/// Returns a Boolean value that indicates whether the library was built with TLS.
static inline int linkd_http_has_tls(void) { return MHD_is_feature_supported(MHD_FEATURE_TLS) == MHD_YES; }

/// Waits for the sockets without epoll, and performs the library's work.
static inline int linkd_http_select(struct MHD_Daemon *daemon, int listener, int wakeup, int milliseconds) {
    fd_set reads, writes, errors;
    int highest = -1;
    FD_ZERO(&reads);
    FD_ZERO(&writes);
    FD_ZERO(&errors);
    if (MHD_get_fdset(daemon, &reads, &writes, &errors, &highest) != MHD_YES) return -1;
    if (listener >= FD_SETSIZE || wakeup >= FD_SETSIZE) return -1;
    if (listener >= 0) FD_SET(listener, &reads);
    FD_SET(wakeup, &reads);
    if (listener > highest) highest = listener;
    if (wakeup > highest) highest = wakeup;
    struct timeval span = {milliseconds / 1000, (milliseconds % 1000) * 1000};
    int ready = select(highest + 1, &reads, &writes, &errors, milliseconds < 0 ? NULL : &span);
    if (ready < 0) return errno == EINTR ? 0 : -1;
    int result = (listener >= 0 && FD_ISSET(listener, &reads) ? 1 : 0) | (FD_ISSET(wakeup, &reads) ? 2 : 0);
    MHD_run_from_select(daemon, &reads, &writes, &errors);
    return result;
}

/// Waits until a socket is ready or the time is over, and performs the library's work.
///
/// Returns bits: 1 if `listener` has a new connection, and 2 if `wakeup` has data. Returns -1 after an error.
/// `listener` can be -1, and `milliseconds` can be -1 for no limit. `idle` counts turns in sequence that the library
/// wants without a wait although no socket is ready. Version 0.9.75 wants them, without an end, for a client that is
/// silent in the middle of a TLS handshake, so after some of them each turn waits for 5 ms.
static inline int linkd_http_turn(
    struct MHD_Daemon *daemon, int listener, int wakeup, int milliseconds, unsigned int *idle) {
    MHD_UNSIGNED_LONG_LONG pending = 0;
    if (MHD_get_timeout(daemon, &pending) == MHD_YES && (milliseconds < 0 || pending < (unsigned)milliseconds)) {
        const int limit = milliseconds < 0 || milliseconds > 5 ? 5 : milliseconds;
        milliseconds = pending == 0 && *idle >= 32 ? limit : (int)pending;
        if (pending == 0 && *idle < 32) *idle += 1;
    } else {
        *idle = 0;
    }
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    if (info == NULL || info->epoll_fd < 0) return linkd_http_select(daemon, listener, wakeup, milliseconds);
    struct pollfd sockets[3] = {{info->epoll_fd, POLLIN, 0}, {wakeup, POLLIN, 0}, {listener, POLLIN, 0}};
    int ready = poll(sockets, listener >= 0 ? 3 : 2, milliseconds);
    if (ready < 0 && errno != EINTR) return -1;
    if (ready > 0) *idle = 0;
    MHD_run(daemon);
    return (sockets[2].revents != 0 ? 1 : 0) | (sockets[1].revents != 0 ? 2 : 0);
}

/// Returns the socket of a connection, or -1.
static inline int linkd_http_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/// Returns the pointer that the notification of a new connection has set.
static inline void *linkd_http_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/// Returns the size of the request line and the headers in bytes.
static inline size_t linkd_http_header_bytes(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

/// Returns a Boolean value that indicates whether a notification is about a new connection.
static inline int linkd_http_is_start(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}

/// Calls `visit` with each header of a request.
static inline void linkd_http_headers(struct MHD_Connection *connection, MHD_KeyValueIteratorN visit, void *context) {
    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, visit, context);
}

/// Creates a response with a copy of bytes.
static inline struct MHD_Response *linkd_http_bytes(const void *bytes, size_t count) {
    return MHD_create_response_from_buffer(count, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

/// Creates a response whose length is unknown.
static inline struct MHD_Response *linkd_http_stream(
    ssize_t (*read)(void *context, uint64_t position, char *buffer, size_t count), void *context,
    void (*release)(void *context)) {
    return MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read, context, release);
}

/// Sets the flags of a socket that never blocks and that child processes do not inherit.
static inline void linkd_http_configure(int socket) {
    fcntl(socket, F_SETFL, fcntl(socket, F_GETFL, 0) | O_NONBLOCK);
    fcntl(socket, F_SETFD, FD_CLOEXEC);
}

/// Sends bytes without waiting and without a signal if the peer has closed the connection.
static inline ssize_t linkd_http_send(int socket, const void *bytes, size_t count) {
#if defined(MSG_NOSIGNAL)
    return send(socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
#else
    return send(socket, bytes, count, MSG_DONTWAIT);
#endif
}

/// Returns a Boolean value that indicates whether the peer has closed a connection that has no unread data.
static inline int linkd_http_is_closed(int socket) {
    char byte;
    ssize_t count = recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}
