package example.orders;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.servers.redis.RedisTestServer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.DriverManager;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.h2.tools.Server;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** Tests two instances on one Redis and one database, over HTTP. */
@Timeout(300)
class OrderServiceTest {
    @TempDir
    private Path directory;

    private RedisTestServer redis;
    private Server database;
    private JdbcTemplate jdbc;
    private String url;

    @BeforeEach
    void start() throws Exception {
        redis = RedisTestServer.start();
        database = Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-baseDir", directory.toString()).start();
        url = "jdbc:h2:tcp://127.0.0.1:" + database.getPort() + "/./orders";
        jdbc = new JdbcTemplate(new SingleConnectionDataSource(DriverManager.getConnection(url, "sa", ""), true));
    }

    @AfterEach
    void stop() {
        database.stop();
        redis.close();
    }

    private OrderInstance instance(String name, String paymentTime) throws Exception {
        return OrderInstance.start(
                directory.resolve(name + ".log"),
                "spring.data.redis.host=127.0.0.1",
                "spring.data.redis.port=" + redis.port(),
                "spring.datasource.url=" + url,
                "spring.datasource.username=sa",
                "mortise.lease-duration=4s",
                "mortise.locked.max-wait=60s",
                "orders.payment-time=" + paymentTime);
    }

    private void stock(String item, int amount) {
        jdbc.update("INSERT INTO stock (item, amount, token) VALUES (?, ?, 0)", item, amount);
    }

    private int left(String item) {
        return jdbc.queryForObject("SELECT amount FROM stock WHERE item = ?", Integer.class, item);
    }

    private long lastToken(String item) {
        return jdbc.queryForObject("SELECT token FROM stock WHERE item = ?", Long.class, item);
    }

    @Test
    void anInstanceContinuesWhenTheHolderIsKilled() throws Exception {
        try (OrderInstance killed = instance("killed", "10m");
                OrderInstance other = instance("other", "0s")) {
            stock("book", 5);
            long before = Long.parseLong(other.order("book", 1).get(60, TimeUnit.SECONDS).body());
            CompletableFuture<HttpResponse<String>> unfinished = killed.order("book", 1);
            while (!other.get("/actuator/locks?name=stock/book").contains("\"pid\":" + killed.pid())) {
                assertThat(unfinished).isNotDone();
                TimeUnit.MILLISECONDS.sleep(50);
            }
            CompletableFuture<HttpResponse<String>> waiting = other.order("book", 2);
            killed.kill();
            HttpResponse<String> sold = waiting.get(90, TimeUnit.SECONDS);
            assertThat(sold.statusCode()).as(sold.body()).isEqualTo(200);
            assertThat(Long.parseLong(sold.body())).isGreaterThan(before + 1); // the killed one had a token in between
            assertThat(lastToken("book")).isEqualTo(Long.parseLong(sold.body()));
            assertThat(left("book")).isEqualTo(2);
        }
    }

    @Test
    void theStockIsNeverOversold() throws Exception {
        try (OrderInstance one = instance("one", "5ms");
                OrderInstance two = instance("two", "5ms")) {
            stock("pen", 20);
            List<CompletableFuture<HttpResponse<String>>> orders = new ArrayList<>();
            for (int i = 0; i < 15; i++) {
                orders.add(one.order("pen", 1));
                orders.add(two.order("pen", 1));
            }
            int sold = 0;
            for (CompletableFuture<HttpResponse<String>> order : orders) {
                int status = order.get(90, TimeUnit.SECONDS).statusCode();
                assertThat(status).isIn(200, 409);
                sold += status == 200 ? 1 : 0;
            }
            assertThat(sold).isEqualTo(20);
            assertThat(left("pen")).isZero();
            assertThat(one.order("pen", -1).get(90, TimeUnit.SECONDS).statusCode()).isEqualTo(400);
            List<Long> tokens = jdbc.queryForList("SELECT token FROM orders WHERE item = 'pen' ORDER BY id", Long.class);
            assertThat(tokens).hasSize(20).isSorted().doesNotHaveDuplicates();
            assertThat(one.get("/actuator/health")).contains("\"mortise\"").contains("responseMillis");
        }
    }
}
