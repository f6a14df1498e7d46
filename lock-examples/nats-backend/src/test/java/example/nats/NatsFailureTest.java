// SPDX-License-Identifier: Apache-2.0
package example.nats;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.LockStatus;
import io.mortise.lock.testkit.TestServerExtension;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests what is special about this store, beyond the rules that the kit checks. */
class NatsFailureTest {
    @RegisterExtension
    static final TestServerExtension<NatsServer> server =
            new TestServerExtension<>("nats", NatsServer::create, NatsServer::address);

    /** It is listed beside the locks of Mortise, and its lock is busy until somebody deletes the key. */
    @Test
    void S19_aForeignValueIsThatOfAForeignHolder() throws Exception {
        OneBucket bucket = new OneBucket(server);
        try (LockClient client = bucket.open(ClientOptions.defaults())) {
            client.named("a").acquire();
            List<String> values = List.of("", "hello", "1 x c o", "1 2 c", "-1 0 c o", "1 9999999999999999999 c o");
            for (int i = 0; i < values.size(); i++) {
                bucket.put("b" + i, values.get(i));
            }
            client.named("c").acquire();
            LockAdmin admin = client.admin().orElseThrow();
            List<LockStatus> locks = admin.list("", 100, "").join().locks();
            assertThat(locks)
                    .extracting(lock -> lock.holders().get(0).raw())
                    .hasSize(8)
                    .containsAll(values);
            assertThat(locks)
                    .filteredOn(lock -> lock.holders().get(0).isForeign())
                    .extracting(LockStatus::name)
                    .containsExactly("b0", "b1", "b2", "b3", "b4", "b5");
            assertThat(client.named("b1").tryAcquire()).isEmpty();
            assertThat(admin.status("b1").join().holders()).first().matches(LockHolder::isForeign);
            bucket.deleteGrant("b1");
            assertThat(client.named("b1").tryAcquire()).isPresent();
        } finally {
            bucket.close();
        }
    }
}
