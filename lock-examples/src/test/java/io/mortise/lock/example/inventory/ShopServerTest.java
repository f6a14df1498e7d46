// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.Lease;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockHolder;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the responses of one instance of the service in this process, with locks in memory. */
class ShopServerTest {
    /** Options with a long timeout, since the first connection of a JVM takes long on a busy machine. */
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));

    private static final Duration MAX_WAIT = Duration.ofSeconds(1);
    private static final Duration SOON = Duration.ofSeconds(30);

    @TempDir
    private static Path dir = Path.of("");

    private static final List<ShopServer> servers = new ArrayList<>();

    private static LockClient locks;
    private static FencedStockFile stock;
    private static Buyer buyer;

    @BeforeAll
    static void open() throws Exception {
        FencedStockFile.createIfMissing(
                dir.resolve("stock"),
                Map.of("lamp", 2, "chair", 7, "vase", 3, "desk", 4, "bed", 40, "sofa", 9, "rug", 5));
        stock = new FencedStockFile(dir.resolve("stock"));
        locks = Locks.connect("memory:shop");
        buyer = open(locks);
    }

    private static Buyer open(LockClient client) throws IOException {
        ShopServer server = ShopServer.start(new Shop(client, stock, MAX_WAIT, () -> {}), 0);
        servers.add(server);
        return Buyer.at(server.url());
    }

    @AfterAll
    static void close() {
        servers.forEach(ShopServer::close);
        locks.close();
    }

    @Test
    void sellsUntilTheItemIsSoldOut() throws Exception {
        assertThat(buyer.buy("lamp")).isEqualTo(new Buyer.Answer(200, 2, false));
        assertThat(buyer.stock("lamp")).isEqualTo(new Buyer.Answer(200, 1, false));
        assertThat(buyer.buy("lamp")).isEqualTo(new Buyer.Answer(200, 1, false));
        assertThat(buyer.buy("lamp").status()).isEqualTo(409);
        assertThat(buyer.stock("lamp").number()).isZero();
    }

    @Test
    void buyerThatWaitsTooLongIsAskedToRetry() throws Exception {
        try (Lease lease = locks.named(Shop.lockName("chair")).acquire()) {
            assertThat(buyer.buy("chair")).isEqualTo(new Buyer.Answer(429, -1, true));
            assertThat(buyer.stock("chair").number())
                    .as("reading needs no lock")
                    .isEqualTo(7);
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(buyer.buy("chair").status()).isEqualTo(200);
    }

    /** More buyers than threads wait for one item. */
    @Test
    void waitersForOneItemDoNotDelayBuyersOfAnother() throws Exception {
        Shop patientShop = new Shop(locks, stock, Duration.ofSeconds(60), () -> {});
        ShopServer server = ShopServer.start(patientShop, 0);
        servers.add(server);
        Buyer there = Buyer.at(server.url());
        List<CompletableFuture<Buyer.Answer>> waiting = new ArrayList<>();
        try (Lease lease = locks.named(Shop.lockName("bed")).acquire()) {
            for (int i = 0; i < 40; i++) {
                waiting.add(there.buyAsync("bed"));
            }
            Await.until("all buyers are waiting", LONG_TIMEOUTS.connectTimeout(), () -> waiters("bed") == 40);
            assertThat(there.buy("sofa")).isEqualTo(new Buyer.Answer(200, 9, false));
            assertThat(there.stock("bed").number()).isEqualTo(40);
            assertThat(lease.isHeld()).isTrue();
        }
        assertThat(waiting)
                .allSatisfy(answer -> assertThat(answer.join().status()).isEqualTo(200));
    }

    private static int waiters(String item) {
        return locks.named(Shop.lockName(item)).status().join().waiters().size();
    }

    @Test
    void nothingIsSoldWhileTheLockStoreIsUnavailable() throws Exception {
        try (RedisTestServer redis = RedisTestServer.start();
                LockClient onRedis = Locks.connect(redis.url(), LONG_TIMEOUTS)) {
            Buyer there = open(onRedis);
            assertThat(there.buyWithRetries("vase")).isEqualTo(new Buyer.Answer(200, 3, false));
            redis.kill();
            assertThat(there.buy("vase")).isEqualTo(new Buyer.Answer(503, -1, true));
            assertThat(there.stock("vase").number()).isEqualTo(2);
            redis.restart();
            assertThat(there.buyWithRetries("vase")).isEqualTo(new Buyer.Answer(200, 2, false));
        }
    }

    @Test
    void S03_lateSaleIsRejectedAlthoughTheNextHolderHasOnlyRead() throws Exception {
        CountDownLatch earlierHasRead = new CountDownLatch(1);
        CountDownLatch laterHasRead = new CountDownLatch(1);
        CountDownLatch earlierHasWritten = new CountDownLatch(1);
        Shop earlierShop = new Shop(locks, stock, SOON, () -> {
            earlierHasRead.countDown();
            laterHasRead.await();
        });
        Shop laterShop = new Shop(locks, stock, SOON, () -> {
            laterHasRead.countDown();
            earlierHasWritten.await();
        });
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            CompletableFuture<SaleOutcome> earlier = earlierShop.buy("rug", threads);
            assertThat(earlierHasRead.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
            loseLock("rug");
            CompletableFuture<SaleOutcome> later = laterShop.buy("rug", threads);
            assertThat(earlier).failsWithin(SOON).withThrowableThat().withCauseInstanceOf(StaleTokenException.class);
            earlierHasWritten.countDown();
            assertThat(later)
                    .succeedsWithin(SOON)
                    .isInstanceOfSatisfying(
                            SaleOutcome.Sold.class,
                            sold -> assertThat(sold.unit()).isEqualTo(5));
            assertThat(stock.left("rug")).hasValue(4);
        } finally {
            threads.shutdownNow();
        }
    }

    private static void loseLock(String item) {
        LockHolder holder =
                locks.named(Shop.lockName(item)).status().join().holders().get(0);
        assertThat(locks.admin()
                        .orElseThrow()
                        .forceRelease(Shop.lockName(item), holder)
                        .join())
                .isTrue();
    }

    /** This happens if a user tries several lock stores with the same file. */
    @Test
    void stockWithTokensOfAnotherStoreIsAnErrorRatherThanALostLock() throws Exception {
        stock.write("desk", 4, Long.MAX_VALUE);
        assertThat(buyer.buy("desk")).isEqualTo(new Buyer.Answer(500, -1, false));
        assertThat(buyer.stock("desk").number()).isEqualTo(4);
    }

    @ParameterizedTest
    @CsvSource({
        "POST, /items/table/buy",
        "GET, /items/table",
        "GET, /items/lamp/buy",
        "POST, /items/lamp",
        "POST, /items/lamp/steal",
        "GET, /"
    })
    void unknownItemsAndPathsAreNotFound(String method, String path) throws Exception {
        assertThat(buyer.send(method, path).status()).isEqualTo(404);
    }
}
