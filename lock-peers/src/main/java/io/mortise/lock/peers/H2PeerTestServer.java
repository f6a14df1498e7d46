// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.h2.tools.Server;

/** Starts the H2 database against which the lock libraries are compared, in this JVM; clients connect to it over TCP. */
final class H2PeerTestServer implements PeerTestServers {
    private static final String DATABASE = "mem:peers;DB_CLOSE_DELAY=-1";

    /** Without it, a request on a silent connection never ends, and cannot be interrupted. */
    private static final int NETWORK_TIMEOUT_MILLIS = 2000;

    private final Server server;

    H2PeerTestServer() {
        try {
            server = Server.createTcpServer("-tcpPort", "0", "-ifNotExists").start();
            execute("""
                    CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL, CLIENT_ID CHAR(36),
                    CREATED_DATE TIMESTAMP NOT NULL, EXPIRED_AFTER TIMESTAMP NOT NULL,
                    CONSTRAINT INT_LOCK_PK PRIMARY KEY (LOCK_KEY, REGION))""");
            execute("""
                    CREATE TABLE SHEDLOCK (NAME VARCHAR(64) NOT NULL, LOCK_UNTIL TIMESTAMP(3) NOT NULL,
                    LOCKED_AT TIMESTAMP(3) NOT NULL, LOCKED_BY VARCHAR(255) NOT NULL, PRIMARY KEY (NAME))""");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Returns the JDBC URL of the database behind an address. */
    static String url(String address) {
        return "jdbc:h2:tcp://" + address + "/" + DATABASE + ";NETWORK_TIMEOUT=" + NETWORK_TIMEOUT_MILLIS;
    }

    private void execute(String sql) {
        try (Connection connection = DriverManager.getConnection("jdbc:h2:" + DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public List<String> addresses() {
        return List.of("127.0.0.1:" + server.getPort());
    }

    /** Deletes a row. The entry is {@code table.column=value}. */
    @Override
    public void deleteGrant(String entry) {
        String[] parts = entry.split("[.=]", 3);
        execute("DELETE FROM " + parts[0] + " WHERE " + parts[1] + " = '" + parts[2] + "'");
    }

    @Override
    public void stop() {
        throw new UnsupportedOperationException("the database is in the memory of this JVM");
    }

    @Override
    public void restart() {
        throw new UnsupportedOperationException("the database is in the memory of this JVM");
    }

    @Override
    public boolean isServerThread(Thread thread) {
        return thread.getName().startsWith("H2 ") || thread.getName().startsWith("MVStore");
    }

    @Override
    public void close() {
        server.stop();
    }
}
