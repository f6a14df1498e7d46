// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lock.LockResponse;
import io.mortise.lock.servers.etcd.EtcdTestServer;
import io.mortise.lock.testkit.process.Await;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Shows defects of etcd's lock service by jetcd's API alone. */
@Tag("peers")
class JetcdReproductionTest {
    private static final ByteSequence NAME = ByteSequence.from("lock", StandardCharsets.UTF_8);

    /**
     * The documentation of the lock service: "if the lease expires or is revoked and currently holds the lock, the lock is
     * automatically released". A waiter whose lease has ended is granted the lock all the same, at the same time as another.
     */
    @Test
    void aWaiterWhoseLeaseHasEndedIsGrantedALockThatAnotherHolds() throws Exception {
        try (EtcdTestServer server = EtcdTestServer.start();
                Client client = Client.builder().endpoints(server.endpoint()).build()) {
            LockResponse first = lock(client, lease(client)).get(10, TimeUnit.SECONDS);
            long ended = lease(client);
            CompletableFuture<LockResponse> waiting = lock(client, ended);
            Await.until("the waiter is queued", Duration.ofSeconds(10), () -> queued(server) == 2);
            client.getLeaseClient().revoke(ended).get(10, TimeUnit.SECONDS);
            CompletableFuture<LockResponse> other = lock(client, lease(client));
            Await.until("another waiter is queued", Duration.ofSeconds(10), () -> queued(server) == 2);
            client.getLockClient().unlock(first.getKey()).get(10, TimeUnit.SECONDS);
            ByteSequence one = waiting.get(10, TimeUnit.SECONDS).getKey();
            ByteSequence two = other.get(10, TimeUnit.SECONDS).getKey();
            assertThat(one).isNotEqualTo(two);
            assertThat(server.connect().get(one.toString(StandardCharsets.UTF_8)))
                    .as("the key of the waiter that was granted the lock")
                    .isEmpty();
            assertThat(server.connect().get(two.toString(StandardCharsets.UTF_8)))
                    .isPresent();
        }
    }

    /** The documentation of the lock service: "name is the identifier for the distributed shared lock to be acquired". */
    @Test
    void aLockWaitsForAnotherWhoseNameBeginsWithItsOwnAndASlash() throws Exception {
        try (EtcdTestServer server = EtcdTestServer.start();
                Client client = Client.builder().endpoints(server.endpoint()).build()) {
            ByteSequence longer = ByteSequence.from("lock/42", StandardCharsets.UTF_8);
            LockResponse held =
                    client.getLockClient().lock(longer, lease(client)).get(10, TimeUnit.SECONDS);
            CompletableFuture<LockResponse> other = lock(client, lease(client));
            assertThatThrownBy(() -> other.get(5, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
            client.getLockClient().unlock(held.getKey()).get(10, TimeUnit.SECONDS);
            assertThat(other.get(10, TimeUnit.SECONDS)).isNotNull();
        }
    }

    private static int queued(EtcdTestServer server) {
        return server.connect().list("lock/").size();
    }

    private static long lease(Client client) throws Exception {
        return client.getLeaseClient().grant(30).get(10, TimeUnit.SECONDS).getID();
    }

    private static CompletableFuture<LockResponse> lock(Client client, long lease) {
        return client.getLockClient().lock(NAME, lease);
    }
}
