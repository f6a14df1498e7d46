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
 * Sends raw requests to one etcd node through its JSON gateway, and reads its counters. Keys and values are strings. The client
 * needs no closing and stays usable after a restart of the node, unless it has a user and the restart lost the data.
 * Thread-safe.
 *
 * <p>All requests throw an {@link UncheckedIOException} if the node does not reply within ten seconds, or if the connection
 * breaks; the node may have executed the request nevertheless. The class needs {@code tools.jackson.jr:jackson-jr-objects} on
 * the class path.
 */
public final class RawEtcd {
    private static final Duration TIMEOUT = Duration.ofSeconds(10);
    private static final Duration TRY_TIMEOUT = Duration.ofSeconds(1);
    private static final Pattern RECEIVED =
            Pattern.compile("^grpc_server_msg_received_total\\{grpc_method=\"(\\w+)\".*} (\\S+)$", Pattern.MULTILINE);

    private final EtcdGateway gateway;

    private RawEtcd(EtcdGateway gateway) {
        this.gateway = gateway;
    }

    /** Returns a client for a port of 127.0.0.1, without TLS and without a user; sends nothing yet. */
    public static RawEtcd connect(int port) {
        return new RawEtcd(new EtcdGateway(port, Optional.empty(), TIMEOUT));
    }

    /** Returns a client like {@link #connect(int)} that authenticates as a user if the server has authentication enabled. */
    public static RawEtcd connect(int port, String user, String password) {
        return new RawEtcd(new EtcdGateway(port, Optional.of(new EtcdGateway.Login(user, password)), TIMEOUT));
    }

    /** Returns the result of {@code request}; empty if the node replies with an error, or does not reply within a second. */
    <T> Optional<T> tryCall(Function<RawEtcd, T> request) {
        try {
            return Optional.of(request.apply(new RawEtcd(gateway.withTimeout(TRY_TIMEOUT))));
        } catch (UncheckedIOException | ErrorReply e) {
            return Optional.empty();
        }
    }

    /**
     * Sends one JSON request and returns the reply unchanged: 64-bit numbers are strings, bytes are Base64, and fields that are
     * zero or empty are missing. Of a stream it returns the first message.
     *
     * @param method path of the method below {@code /v3/}, such as {@code auth/user/add}
     * @throws ErrorReply if the server replies with an error
     */
    public Map<String, ?> call(String method, Map<String, ?> request) {
        return gateway.call(method, request);
    }

    /** Puts a key without a lease, and returns the new revision of the store. */
    public long put(String key, String value) {
        return put(key, value, 0);
    }

    /** Puts a key and attaches it to a lease, and returns the new revision of the store. */
    public long put(String key, String value, long lease) {
        return EtcdJson.number(EtcdJson.map(call("kv/put", putRequest(key, value, lease)), "header"), "revision");
    }

    /** Reads a key with a linearizable read. */
    public Optional<EtcdEntry> get(String key) {
        return entries(Map.of("key", EtcdJson.base64(key))).stream().findFirst();
    }

    /** Reads all keys with a prefix in the order of their creation, with a linearizable read; all keys if it is empty. */
    public List<EtcdEntry> list(String prefix) {
        Map<String, Object> request = new LinkedHashMap<>(prefixRange(prefix));
        request.put("sort_target", "CREATE");
        request.put("sort_order", "ASCEND");
        return entries(request);
    }

    /** Deletes a key, and returns whether it existed. */
    public boolean delete(String key) {
        return EtcdJson.number(call("kv/deleterange", Map.of("key", EtcdJson.base64(key))), "deleted") > 0;
    }

    /** Deletes all keys with a prefix, or all keys if it is empty, and returns their number. */
    public long deletePrefix(String prefix) {
        return EtcdJson.number(call("kv/deleterange", prefixRange(prefix)), "deleted");
    }

    /** Returns the builder of a new transaction. */
    public EtcdTxnBuilder txn() {
        return new EtcdTxnBuilder(this);
    }

    /** Returns the revision of the store, with a linearizable read. */
    public long revision() {
        Map<String, ?> reply = call("kv/range", Map.of("key", EtcdJson.base64("\0")));
        return EtcdJson.number(EtcdJson.map(reply, "header"), "revision");
    }

    /** Grants a lease and returns its id; the server may grant a longer duration, see {@link #grantedTtl}. */
    public long grantLease(Duration ttl) {
        return EtcdJson.number(call("lease/grant", Map.of("TTL", Long.toString(ttl.toSeconds()))), "ID");
    }

    /** Revokes a lease, which deletes its keys. */
    public void revokeLease(long lease) {
        call("lease/revoke", leaseId(lease));
    }

    /** Renews a lease once, and returns whether it still existed. */
    public boolean keepLeaseAlive(long lease) {
        return EtcdJson.number(call("lease/keepalive", leaseId(lease)), "TTL") > 0;
    }

    /** Returns the remaining time of a lease, in whole seconds; empty if there is no such lease. */
    public Optional<Duration> timeToLive(long lease) {
        return lease(lease, "TTL");
    }

    /** Returns the full duration of a lease after each renewal; empty if there is no such lease. */
    public Optional<Duration> grantedTtl(long lease) {
        return lease(lease, "grantedTTL");
    }

    /** Returns the ids of all leases. */
    public List<Long> leases() {
        return EtcdJson.list(call("lease/leases", Map.of()), "leases").stream()
                .map(lease -> EtcdJson.number(lease, "ID"))
                .toList();
    }

    /** Returns the status that the node reports about itself, without consulting other nodes. */
    public EtcdStatus status() {
        return EtcdStatus.of(call("maintenance/status", Map.of()));
    }

    /** Returns the names of all members by id. */
    Map<Long, String> memberNames() {
        Map<Long, String> names = new TreeMap<>();
        EtcdJson.list(call("cluster/member/list", Map.of()), "members")
                .forEach(member -> names.put(EtcdJson.number(member, "ID"), String.valueOf(member.get("name"))));
        return names;
    }

    /**
     * Returns how many requests the node has received from all clients since it started, by gRPC method, such as {@code Txn},
     * {@code Range}, {@code LeaseKeepAlive}, {@code Watch}; sorted. Each message of a stream counts: each renewal, and each
     * creation, cancellation or progress request of a watch. The request that this method sends does not count.
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
        return Map.of(
                "key", EtcdJson.base64(prefix.isEmpty() ? "\0" : prefix), "range_end", EtcdJson.prefixEnd(prefix));
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

    /** Thrown when the server replies with an error, such as {@code etcdserver: requested lease not found}. */
    public static final class ErrorReply extends RuntimeException {
        private static final long serialVersionUID = 1;

        private final int code;

        ErrorReply(int code, String message) {
            super(message);
            this.code = code;
        }

        /** Returns the gRPC status code, such as 5 for not found. */
        public int code() {
            return code;
        }
    }
}
