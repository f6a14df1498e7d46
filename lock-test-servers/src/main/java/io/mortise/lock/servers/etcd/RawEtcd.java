// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sends raw requests to one etcd node by its JSON gateway, and reads its counters. Keys and values are text here. There is
 * nothing to close, and it outlives restarts of the node; not so that of a user, if the data is lost. Thread-safe.
 *
 * <p>A node that does not answer within ten seconds is an {@link UncheckedIOException}, as is a broken connection; the request
 * may be executed nevertheless. It needs {@code tools.jackson.jr:jackson-jr-objects} on the class path.
 */
public final class RawEtcd {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration ASK_TIMEOUT = Duration.ofSeconds(1);
    private static final Pattern RECEIVED =
            Pattern.compile("^grpc_server_msg_received_total\\{grpc_method=\"(\\w+)\".*} (\\S+)$", Pattern.MULTILINE);

    private final EtcdGateway gateway;

    private RawEtcd(EtcdGateway gateway) {
        this.gateway = gateway;
    }

    /** Requests to a port of 127.0.0.1, without TLS, of nobody in particular; nothing is sent yet. */
    public static RawEtcd connect(int port) {
        return new RawEtcd(new EtcdGateway(port, Optional.empty(), TIMEOUT));
    }

    /** As {@link #connect(int)}, of a user, once the server asks for users at all. */
    public static RawEtcd connect(int port, String user, String password) {
        return new RawEtcd(new EtcdGateway(port, Optional.of(new EtcdGateway.Login(user, password)), TIMEOUT));
    }

    /** What the node says to {@code question}; empty if that is an error, or if there is no answer within a second. */
    <T> Optional<T> ask(Function<RawEtcd, T> question) {
        try {
            return Optional.of(question.apply(new RawEtcd(gateway.within(ASK_TIMEOUT))));
        } catch (UncheckedIOException | ErrorReply e) {
            return Optional.empty();
        }
    }

    /**
     * Sends one request as it is, and gives the reply as it is: 64 bits are strings, bytes Base64, and what is zero or empty is
     * not there. Of a stream the first message.
     *
     * @param method its path below {@code /v3/}, such as {@code auth/user/add}
     * @throws ErrorReply if the server answers with an error
     */
    public Map<String, ?> call(String method, Map<String, ?> request) {
        return gateway.call(method, request);
    }

    /** Puts a key without a lease; the revision of the store after that. */
    public long put(String key, String value) {
        return put(key, value, 0);
    }

    /** Puts a key, to be deleted with that lease; the revision of the store after that. */
    public long put(String key, String value, long lease) {
        return EtcdJson.number(EtcdJson.map(call("kv/put", putRequest(key, value, lease)), "header"), "revision");
    }

    /** Reads a key, linearizably. */
    public Optional<EtcdEntry> get(String key) {
        return entries(Map.of("key", EtcdJson.base64(key))).stream().findFirst();
    }

    /** Reads all keys with that prefix, linearizably, the one that was created first before the others; of all keys if empty. */
    public List<EtcdEntry> list(String prefix) {
        Map<String, Object> request = new LinkedHashMap<>(prefixRange(prefix));
        request.put("sort_target", "CREATE");
        request.put("sort_order", "ASCEND");
        return entries(request);
    }

    /** Deletes a key; whether it was there. */
    public boolean delete(String key) {
        return EtcdJson.number(call("kv/deleterange", Map.of("key", EtcdJson.base64(key))), "deleted") > 0;
    }

    /** Deletes all keys with that prefix, all keys if it is empty; how many there were. */
    public long deletePrefix(String prefix) {
        return EtcdJson.number(call("kv/deleterange", prefixRange(prefix)), "deleted");
    }

    /** A transaction, not sent yet. */
    public EtcdTxnBuilder txn() {
        return new EtcdTxnBuilder(this);
    }

    /** The revision of the store, read linearizably. */
    public long revision() {
        Map<String, ?> reply = call("kv/range", Map.of("key", EtcdJson.base64("\0")));
        return EtcdJson.number(EtcdJson.map(reply, "header"), "revision");
    }

    /** A new lease; the server may make it longer, see {@link #grantedTtl}. */
    public long grantLease(Duration ttl) {
        return EtcdJson.number(call("lease/grant", Map.of("TTL", Long.toString(ttl.toSeconds()))), "ID");
    }

    /** Ends a lease, and deletes its keys. */
    public void revokeLease(long lease) {
        call("lease/revoke", leaseId(lease));
    }

    /** Renews a lease once; whether it still existed. */
    public boolean keepLeaseAlive(long lease) {
        return EtcdJson.number(call("lease/keepalive", leaseId(lease)), "TTL") > 0;
    }

    /** How long a lease has left, in whole seconds; empty if there is no such lease. */
    public Optional<Duration> timeToLive(long lease) {
        return lease(lease, "TTL");
    }

    /** How long a lease lives without being renewed; empty if there is no such lease. */
    public Optional<Duration> grantedTtl(long lease) {
        return lease(lease, "grantedTTL");
    }

    /** All leases. */
    public List<Long> leases() {
        return EtcdJson.list(call("lease/leases", Map.of()), "leases").stream()
                .map(lease -> EtcdJson.number(lease, "ID"))
                .toList();
    }

    /** What the node says of itself; asks no other. */
    public EtcdStatus status() {
        return EtcdStatus.of(call("maintenance/status", Map.of()));
    }

    /** The names of all members by their ids. */
    Map<Long, String> memberNames() {
        Map<Long, String> names = new TreeMap<>();
        EtcdJson.list(call("cluster/member/list", Map.of()), "members")
                .forEach(member -> names.put(EtcdJson.number(member, "ID"), String.valueOf(member.get("name"))));
        return names;
    }

    /**
     * How many requests the node has got since it started, by anybody, by their gRPC method, such as {@code Txn}, {@code Range},
     * {@code LeaseKeepAlive}, {@code Watch}; sorted. Each message of a stream counts: each renewal, and each watch that is
     * created, cancelled or asked for its progress. This very question does not count.
     */
    public Map<String, Long> requests() {
        Map<String, Long> counts = new TreeMap<>();
        Matcher line = RECEIVED.matcher(gateway.metrics());
        while (line.find()) {
            long count = (long) Double.parseDouble(line.group(2));
            if (count > 0) {
                counts.merge(line.group(1), count, Long::sum);
            }
        }
        return counts;
    }

    static Map<String, String> putRequest(String key, String value, long lease) {
        return Map.of("key", EtcdJson.base64(key), "value", EtcdJson.base64(value), "lease", Long.toString(lease));
    }

    private static Map<String, String> prefixRange(String prefix) {
        return Map.of("key", EtcdJson.base64(prefix.isEmpty() ? "\0" : prefix), "range_end", EtcdJson.endOf(prefix));
    }

    private static Map<String, String> leaseId(long lease) {
        return Map.of("ID", Long.toString(lease));
    }

    private List<EtcdEntry> entries(Map<String, ?> range) {
        return EtcdJson.list(call("kv/range", range), "kvs").stream()
                .map(EtcdEntry::of)
                .toList();
    }

    private Optional<Duration> lease(long lease, String field) {
        Map<String, ?> reply = call("lease/timetolive", leaseId(lease));
        return EtcdJson.number(reply, "TTL") < 0
                ? Optional.empty()
                : Optional.of(Duration.ofSeconds(EtcdJson.number(reply, field)));
    }

    /** The server's answer was an error, such as {@code etcdserver: requested lease not found}. */
    public static final class ErrorReply extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final int code;

        ErrorReply(int code, String message) {
            super(message);
            this.code = code;
        }

        /** Its gRPC status, such as 5 for not found. */
        public int code() {
            return code;
        }
    }
}
