package ${package};

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockAdmin;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.LockStatus;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.TestServerExtension;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests what is special about this store, beyond the rules that the kit checks. */
class TableFailureTest {
    @RegisterExtension
    static final TestServerExtension<H2Server> server =
            new TestServerExtension<>("table", H2Server::create, H2Server::address);

    @Test
    void S03_aCrashOfTheServerTakesBackNoGrantAndNoToken() throws Exception {
        OneDatabase database = new OneDatabase(server);
        try (LockClient holder = database.open(ClientOptions.defaults())) {
            long before = holder.named("kept").acquire().fencingToken();
            server.startedServer().kill();
            server.startedServer().start();
            try (LockClient other = database.open(ClientOptions.defaults())) {
                assertThat(other.named("kept").tryAcquire()).isEmpty();
                assertThat(other.named("other").acquire().fencingToken()).isGreaterThan(before);
            }
        } finally {
            database.close();
        }
    }

    @Test
    void S18_rowsWithImpossibleNamesAreSkippedInAList() throws Exception {
        OneDatabase database = new OneDatabase(server);
        try (LockClient client = database.open(ClientOptions.defaults())) {
            for (String name : List.of("a", "c", "d")) {
                client.named(name).acquire();
            }
            for (String impossible : List.of("b%", "b%41", "b b", "bb%zz")) {
                database.sql(
                        "INSERT INTO mortise_lock SELECT ?, attempt, owner, client, 99, ends_at FROM mortise_lock"
                                + " WHERE name = 'a'",
                        impossible);
            }
            LockAdmin admin = client.admin().orElseThrow();
            assertThat(admin.list("", 2, "").join().locks()).extracting(LockStatus::name).containsExactly("a", "c");
        } finally {
            database.close();
        }
    }

    @Test
    void S17_rowsOfClientsThatCrashedAreDeleted() throws Exception {
        OneDatabase database = new OneDatabase(server);
        try (LockClient client = database.open(ClientOptions.defaults())) {
            client.named("held").acquire();
            for (String crashed : List.of("a", "b")) {
                database.sql(
                        "INSERT INTO mortise_lock SELECT ?, attempt, owner, client, 99, CURRENT_TIMESTAMP FROM mortise_lock"
                                + " WHERE name = 'held'",
                        crashed);
            }
            try (LockClient next = database.open(ClientOptions.defaults())) {
                next.named("used").acquire().release();
                long begun = System.nanoTime();
                while (!database.names().equals(List.of("held"))) {
                    assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(20));
                }
            }
        } finally {
            database.close();
        }
    }

    @Test
    void aUrlWithSeveralHostsIsRejected() {
        assertThatThrownBy(() -> Locks.connect("table://a,b/test"))
                .isInstanceOf(LockConfigurationException.class)
                .hasMessageContaining("\"table://a,b/test\" names several hosts");
    }

    @Test
    void S15_aMissingTableFailsAtOnceAndIsNamed() {
        OneDatabase database = new OneDatabase(server);
        try (LockClient client = database.open(ClientOptions.defaults())) {
            database.sql("DROP TABLE mortise_lock");
            assertThatThrownBy(() -> client.named("x").acquire())
                    .isInstanceOf(BackendRefusedException.class)
                    .hasMessageContaining("acquire of x failed")
                    .hasMessageContaining("MORTISE_LOCK");
        } finally {
            database.close();
        }
    }
}
