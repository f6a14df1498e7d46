package ${package};

import com.zaxxer.hikari.HikariDataSource;
import io.mortise.lock.spi.BackendContext;
import io.mortise.lock.spi.ListableLeaseStore;
import io.mortise.lock.spi.LockName;
import io.mortise.lock.spi.OwnerRecordCodec;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Keeps each lock in one row of a SQL table. Thread-safe. */
final class TableStore implements ListableLeaseStore {
    /** A sequence outlives the rows, so that tokens increase although a release deletes the row. */
    private static final String SCHEMA = """
        CREATE SEQUENCE IF NOT EXISTS mortise_token;
        CREATE TABLE IF NOT EXISTS mortise_lock (
            name    VARCHAR(1536) PRIMARY KEY,
            attempt CHAR(32) NOT NULL,
            owner   VARCHAR(4000) NOT NULL,
            client  CHAR(16) NOT NULL,
            token   BIGINT,
            ends_at TIMESTAMP(6) WITH TIME ZONE NOT NULL)
        """;

    /** The end of a lease, by the clock of the server. The parameter is the lease duration in milliseconds. */
    private static final String LEASE_FROM_NOW = "CURRENT_TIMESTAMP + CAST(? AS BIGINT) * INTERVAL '0.001' SECOND";

    private static final String READ =
            "SELECT attempt, owner, token, ends_at > CURRENT_TIMESTAMP FROM mortise_lock WHERE name = ?";
    private static final String INSERT =
            "INSERT INTO mortise_lock (attempt, owner, client, ends_at, name) VALUES (?, ?, ?, " + LEASE_FROM_NOW
                    + ", ?)";
    private static final String TAKE_OVER = "UPDATE mortise_lock SET attempt = ?, owner = ?, client = ?, ends_at = "
            + LEASE_FROM_NOW + ", token = NULL WHERE name = ? AND ends_at <= CURRENT_TIMESTAMP";
    private static final String DRAW_TOKEN =
            "UPDATE mortise_lock SET token = NEXT VALUE FOR mortise_token WHERE name = ? AND attempt = ? AND token IS"
                    + " NULL";
    private static final String RENEW = "UPDATE mortise_lock SET ends_at = " + LEASE_FROM_NOW
            + " WHERE name = ? AND attempt = ? AND ends_at > CURRENT_TIMESTAMP";
    private static final String RELEASE =
            "DELETE FROM mortise_lock WHERE name = ? AND attempt = ? AND ends_at > CURRENT_TIMESTAMP";
    private static final String DELETE_ENDED =
            "DELETE FROM mortise_lock WHERE name = ? AND attempt = ? AND ends_at <= CURRENT_TIMESTAMP";
    private static final String ENDED =
            "SELECT name, attempt FROM mortise_lock WHERE ends_at <= CURRENT_TIMESTAMP FETCH FIRST 100 ROWS ONLY";
    private static final String LIST = """
        SELECT name, owner, token FROM mortise_lock
        WHERE ends_at > CURRENT_TIMESTAMP AND token IS NOT NULL AND name > ? AND SUBSTRING(name FROM 1 FOR ?) = ?
        ORDER BY name FETCH FIRST ? ROWS ONLY
        """;

    private static final String DUPLICATE_KEY = "23505";

    /** Another step is needed only if another attempt has changed the row in between. */
    private static final int MOST_STEPS = 20;

    private final HikariDataSource pool;
    private final String endpoints;
    private final BackendContext context;

    TableStore(HikariDataSource pool, String endpoints, BackendContext context) {
        this.pool = pool;
        this.endpoints = endpoints;
        this.context = context;
    }

    /** A row as read; the token is null until it is drawn. */
    private record Row(String attempt, String owner, Long token, boolean valid) {}

    private interface Request<T> {
        T send(Connection connection) throws SQLException;
    }

    private <T> CompletionStage<T> send(String what, Request<T> request) {
        return context.callBlocking(what, () -> {
            try (Connection connection = pool.getConnection()) {
                try {
                    return request.send(connection);
                } catch (SQLException e) {
                    pool.evictConnection(connection); // it may be broken, in a way that the pool does not recognise
                    throw e;
                }
            }
        });
    }

    CompletionStage<Boolean> createSchema() {
        return send("schema", connection -> {
            for (String statement : SCHEMA.split(";")) {
                update(connection, statement);
            }
            return true;
        });
    }

    /** Deletes rows of clients that crashed, each by its key: a scan that deletes could lock other rows, or wait for one. */
    CompletionStage<Boolean> deleteEnded() {
        return send("deletion of ended rows", connection -> {
            List<Object[]> keys = new ArrayList<>();
            try (PreparedStatement statement = prepare(connection, ENDED);
                    ResultSet ended = statement.executeQuery()) {
                while (ended.next()) {
                    keys.add(new Object[] {ended.getString(1), ended.getString(2)});
                }
            }
            for (Object[] key : keys) {
                update(connection, DELETE_ENDED, key);
            }
            return true;
        });
    }

    @Override
    public CompletionStage<Answer> tryAcquire(LockName name, String ownerRecord, Duration lease) {
        String attempt = OwnerRecordCodec.attemptId(ownerRecord).orElseThrow();
        Object[] grant = {attempt, ownerRecord, context.clientId(), lease.toMillis(), name.escaped()};
        return send("acquire", connection -> {
            for (int step = 0; step < MOST_STEPS; step++) {
                Row row = read(connection, name);
                boolean ours;
                if (row == null) {
                    ours = insert(connection, grant);
                } else if (!row.valid) {
                    ours = update(connection, TAKE_OVER, grant) == 1;
                } else if (!row.attempt.equals(attempt)) {
                    return new Answer.HeldBy(row.owner);
                } else if (row.token != null) {
                    return new Answer.Token(row.token); // the reply to an earlier try was lost
                } else {
                    ours = true; // an earlier try ended before it drew the token
                }
                Optional<Long> token = ours ? drawToken(connection, name, attempt) : Optional.empty();
                if (token.isPresent()) {
                    return new Answer.Token(token.get());
                }
            }
            throw new SQLTransientException("the row of lock \"" + name + "\" changes too often");
        });
    }

    /** Returns whether the row was inserted; if another attempt was faster, the primary key rejects it. */
    private static boolean insert(Connection connection, Object... grant) throws SQLException {
        try {
            return update(connection, INSERT, grant) == 1;
        } catch (SQLException e) {
            if (DUPLICATE_KEY.equals(e.getSQLState())) {
                return false;
            }
            throw e;
        }
    }

    /** Returns the token, which only this statement draws, now that the row is ours; empty if it is not ours any more. */
    private static Optional<Long> drawToken(Connection connection, LockName name, String attempt) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DRAW_TOKEN, new String[] {"token"})) {
            set(statement, name.escaped(), attempt);
            statement.executeUpdate();
            try (ResultSet drawn = statement.getGeneratedKeys()) {
                return drawn.next() ? Optional.of(drawn.getLong("token")) : Optional.empty();
            }
        }
    }

    private static Row read(Connection connection, LockName name) throws SQLException {
        try (PreparedStatement statement = prepare(connection, READ, name.escaped());
                ResultSet found = statement.executeQuery()) {
            return found.next()
                    ? new Row(
                            found.getString(1), found.getString(2), found.getObject(3, Long.class), found.getBoolean(4))
                    : null;
        }
    }

    @Override
    public CompletionStage<Set<Grant>> renew(Collection<Grant> grants, Duration lease) {
        List<Grant> each = grants.stream()
                .sorted(Comparator.comparing(grant -> grant.name().value()))
                .toList();
        return send("renewal", connection -> {
            try (PreparedStatement statement = connection.prepareStatement(RENEW)) {
                for (Grant grant : each) {
                    set(statement, lease.toMillis(), grant.name().escaped(), grant.attemptId());
                    statement.addBatch();
                }
                int[] rows = statement.executeBatch();
                Set<Grant> removed = new LinkedHashSet<>();
                for (int i = 0; i < rows.length; i++) {
                    if (rows[i] != 1) { // SUCCESS_NO_INFO, too, is no proof of a renewal
                        removed.add(each.get(i));
                    }
                }
                return removed;
            }
        });
    }

    @Override
    public CompletionStage<Boolean> release(Grant grant) {
        return send("release", connection -> {
            boolean valid = update(connection, RELEASE, grant.name().escaped(), grant.attemptId()) == 1;
            if (!valid) {
                update(connection, DELETE_ENDED, grant.name().escaped(), grant.attemptId());
            }
            return valid;
        });
    }

    /** SQL states of class 42 reject the statement or the access, those of class 28 the user. */
    @Override
    public boolean isRefusal(Throwable failure) {
        return failure instanceof SQLException sql
                && sql.getSQLState() != null
                && (sql.getSQLState().startsWith("42") || sql.getSQLState().startsWith("28"));
    }

    @Override
    public CompletionStage<Optional<StoredGrant>> find(LockName name) {
        return send(
                "read",
                connection -> Optional.ofNullable(read(connection, name))
                        .filter(row -> row.valid && row.token != null)
                        .map(row -> new StoredGrant(name, row.owner, row.token)));
    }

    @Override
    public CompletionStage<List<StoredGrant>> list(String prefix, int limit, String after) {
        String start = escaped(prefix);
        return send("list", connection -> {
            List<StoredGrant> grants = new ArrayList<>();
            String last = escaped(after);
            boolean more = true;
            while (more && grants.size() < limit) { // again if rows were skipped: fewer grants would mean the end
                int wanted = limit - grants.size();
                int rows = 0;
                try (PreparedStatement statement = prepare(connection, LIST, last, start.length(), start, wanted);
                        ResultSet found = statement.executeQuery()) {
                    for (; found.next(); rows++) {
                        last = found.getString(1);
                        Optional<LockName> name = LockName.ofEscaped(last);
                        if (name.isPresent()) {
                            grants.add(new StoredGrant(name.get(), found.getString(2), found.getLong(3)));
                        }
                    }
                }
                more = rows == wanted;
            }
            return grants;
        });
    }

    private static String escaped(String name) {
        return name.isEmpty() ? "" : new LockName(name).escaped();
    }

    private static int update(Connection connection, String sql, Object... parameters) throws SQLException {
        try (PreparedStatement statement = prepare(connection, sql, parameters)) {
            return statement.executeUpdate();
        }
    }

    private static PreparedStatement prepare(Connection connection, String sql, Object... parameters)
            throws SQLException {
        PreparedStatement statement = connection.prepareStatement(sql);
        set(statement, parameters);
        return statement;
    }

    private static void set(PreparedStatement statement, Object... parameters) throws SQLException {
        for (int i = 0; i < parameters.length; i++) {
            statement.setObject(i + 1, parameters[i]);
        }
    }

    @Override
    public String endpoints() {
        return endpoints;
    }

    @Override
    public void close() {
        pool.close();
    }
}
