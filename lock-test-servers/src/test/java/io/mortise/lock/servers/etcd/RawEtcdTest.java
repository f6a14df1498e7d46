// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class RawEtcdTest {
    private static EtcdTestServer server;

    private RawEtcd etcd;

    @BeforeAll
    static void startServer() {
        server = EtcdTestServer.start();
    }

    @AfterAll
    static void stopServer() {
        server.close();
    }

    @BeforeEach
    void deleteAllData() {
        etcd = server.connect();
        etcd.deletePrefix("");
        etcd.leases().forEach(etcd::revokeLease);
    }

    @Test
    void put_get_delete() {
        assertThat(etcd.get("key")).isEmpty();
        long created = etcd.put("key", "grün / \0");
        long changed = etcd.put("key", "");
        assertThat(changed).isEqualTo(created + 1).isEqualTo(etcd.revision());
        assertThat(etcd.get("key")).contains(new EtcdEntry("key", "", created, changed, 2, 0));
        assertThat(etcd.get("ke")).isEmpty();
        etcd.put("key", "grün / \0");
        assertThat(etcd.get("key").orElseThrow().value()).isEqualTo("grün / \0");
        assertThat(etcd.delete("key")).isTrue();
        assertThat(etcd.delete("key")).isFalse();
    }

    @Test
    void list_returnsKeysWithThePrefix_inOrderOfCreation() {
        etcd.put("p/b", "1");
        etcd.put("p/ä", "2");
        etcd.put("p", "3");
        etcd.put("p0", "4");
        etcd.put("p/a", "5");
        etcd.put("p/b", "6");
        assertThat(etcd.list("p/")).extracting(EtcdEntry::key).containsExactly("p/b", "p/ä", "p/a");
        assertThat(etcd.list("")).hasSize(5);
        assertThat(etcd.deletePrefix("p/")).isEqualTo(3);
        assertThat(etcd.list("")).extracting(EtcdEntry::value).containsExactly("3", "4");
    }

    @Test
    void txn_isAtomic() {
        assertThat(etcd.txn().ifAbsent("a").thenPut("a", "1").thenPut("b", "1").commit())
                .isTrue();
        assertThat(etcd.txn().ifAbsent("a").thenDelete("b").commit()).isFalse();
        EtcdEntry a = etcd.get("a").orElseThrow();
        assertThat(a.createRevision())
                .isEqualTo(etcd.get("b").orElseThrow().createRevision())
                .isEqualTo(etcd.revision());
        assertThat(etcd.txn().ifValue("a", "2").thenDelete("a").commit()).isFalse();
        assertThat(etcd.txn()
                        .ifValue("a", "1")
                        .ifCreateRevision("b", a.createRevision())
                        .thenDelete("a")
                        .commit())
                .isTrue();
        assertThat(etcd.list("")).extracting(EtcdEntry::key).containsExactly("b");
    }

    @Test
    void lease_deletesItsKeys_whenItIsRevoked() {
        long lease = etcd.grantLease(Duration.ofSeconds(60));
        etcd.put("a", "1", lease);
        assertThat(etcd.txn().thenPut("b", "1", lease).commit()).isTrue();
        assertThat(etcd.leases()).containsExactly(lease);
        assertThat(etcd.list("")).extracting(EtcdEntry::lease).containsExactly(lease, lease);
        assertThat(etcd.keepLeaseAlive(lease)).isTrue();
        assertThat(etcd.grantedTtl(lease)).contains(Duration.ofSeconds(60));
        assertThat(etcd.timeToLive(lease).orElseThrow()).isBetween(Duration.ofSeconds(50), Duration.ofSeconds(60));
        etcd.revokeLease(lease);
        assertThat(etcd.list("")).isEmpty();
        assertThat(etcd.leases()).isEmpty();
        assertThat(etcd.keepLeaseAlive(lease)).isFalse();
        assertThat(etcd.timeToLive(lease)).isEmpty();
        assertThat(etcd.grantedTtl(lease)).isEmpty();
        assertThatThrownBy(() -> etcd.revokeLease(lease))
                .isInstanceOfSatisfying(
                        RawEtcd.ErrorReply.class, e -> assertThat(e.code()).isEqualTo(5))
                .hasMessage("etcdserver: requested lease not found");
    }

    @Test
    void call_throwsErrorReplies_alsoForUnknownMethods() {
        assertThatThrownBy(() -> etcd.call("kv/put", Map.of("value", "")))
                .isInstanceOf(RawEtcd.ErrorReply.class)
                .hasMessage("etcdserver: key is not provided");
        assertThatThrownBy(() -> etcd.call("no/such", Map.of())).isInstanceOf(RawEtcd.ErrorReply.class);
        assertThat(etcd.list("")).isEmpty();
    }

    @Test
    void requests_countsReceivedRequests() {
        Map<String, Long> before = etcd.requests();
        assertThat(etcd.requests()).isEqualTo(before);
        etcd.put("a", "1");
        etcd.get("a");
        etcd.get("b");
        etcd.txn().ifAbsent("a").thenPut("b", "1").thenPut("c", "1").commit();
        etcd.keepLeaseAlive(1);
        Map<String, Long> after = etcd.requests();
        assertThat(increase(before, after, "Put")).isEqualTo(1);
        assertThat(increase(before, after, "Range")).isEqualTo(2);
        assertThat(increase(before, after, "Txn")).isEqualTo(1);
        assertThat(increase(before, after, "LeaseKeepAlive")).isEqualTo(1);
        assertThat(increase(before, after, "DeleteRange")).isZero();
    }

    private static long increase(Map<String, Long> before, Map<String, Long> after, String method) {
        return after.getOrDefault(method, 0L) - before.getOrDefault(method, 0L);
    }

    @Test
    void status_ofASingleServer_isThatOfALeader() {
        EtcdStatus status = etcd.status();
        assertThat(status.leads()).isTrue();
        assertThat(status.term()).isPositive();
        assertThat(status.version()).startsWith("3.");
    }
}
