package ${package};

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.mortise.lock.BackendRefusedException;
import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.LeaseStoreBackend;
import io.mortise.lock.spi.LockBackend;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import io.mortise.lock.spi.support.ConnectRetrier;
import io.mortise.lock.spi.support.StageFailures;
import java.util.List;
import java.util.Set;

/** Opens {@code table://user:password@host:port/database} on an H2 server. */
public final class TableProvider implements LockProvider {
    @Override
    public Set<String> schemes() {
        return Set.of("table");
    }

    @Override
    public Set<String> parameters() {
        return Set.of();
    }

    @Override
    public LockBackend open(LockUrl url, BackendContext context) {
        List<LockUrl.Endpoint> servers = url.endpoints(9092);
        if (servers.size() > 1) {
            throw new LockConfigurationException("\"" + url + "\" names several hosts, must name one");
        }
        String server = servers.get(0).toString();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl("jdbc:h2:tcp://" + server + url.path() + ";WRITE_DELAY=0;NETWORK_TIMEOUT="
                + context.requestTimeout().toMillis());
        config.setUsername(url.user().orElse("sa"));
        config.setPassword(url.password().orElse(""));
        config.setAutoCommit(true); // each statement is a transaction: it has its own time, and keeps no row locked
        config.setMaximumPoolSize(BackendContext.BLOCKING_CALLS);
        config.setMinimumIdle(1);
        config.setConnectionTimeout(Math.max(250, context.requestTimeout().toMillis())); // 250 is Hikari's minimum
        config.setInitializationFailTimeout(-1); // createSchema below opens the first connection
        TableStore store = new TableStore(new HikariDataSource(config), server, context);
        ConnectRetrier deadline = ConnectRetrier.of(server, context.connectTimeout());
        try {
            deadline.retry(() -> deadline.await(store.createSchema().toCompletableFuture(), failure -> {
                Throwable cause = StageFailures.unwrap(failure);
                String message = server + ": " + cause.getMessage();
                return store.isRefusal(cause)
                        ? new BackendRefusedException(message, cause)
                        : new BackendUnavailableException(message, server, cause);
            }));
            store.deleteEnded(); // nobody waits for it, and the next client makes up for a failure
            return new LeaseStoreBackend(store, context);
        } catch (RuntimeException | Error e) {
            store.close();
            throw e;
        }
    }
}
