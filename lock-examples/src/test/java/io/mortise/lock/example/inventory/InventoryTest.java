// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.inventory;

import static org.assertj.core.api.Assertions.assertThat;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.example.MainWithParent;
import io.mortise.lock.servers.redis.RawRedis;
import io.mortise.lock.servers.redis.RedisTestServer;
import io.mortise.lock.testkit.process.Await;
import io.mortise.lock.testkit.process.ChildJvm;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the inventory service in its own processes, started by its command, on a real Redis server. */
@Tag("once")
@Tag("long")
class InventoryTest {
    /** Options with a long timeout, since the first connection of a JVM takes long on a busy machine. */
    private static final ClientOptions LONG_TIMEOUTS = ClientOptions.defaults().connectTimeout(Duration.ofSeconds(40));

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final int UNITS =
            240; // many, so that some are left when the test sees that the victim holds the lock
    private static final Pattern LISTENING = Pattern.compile("listening on (\\S+), process (\\d+)");

    @TempDir
    Path dir = Path.of("");

    private final RedisTestServer redis = RedisTestServer.start();
    private final String url = redis.url() + "?lease=3s"; // short, so that buyers do not wait long for a killed holder
    private final LockClient operator = Locks.connect(url, LONG_TIMEOUTS);
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<ChildJvm> started = new ArrayList<>();
    private Path stock = Path.of("");

    @BeforeEach
    void fillTheStock() throws IOException {
        stock = dir.resolve("stock");
        FencedStockFile.createIfMissing(stock, Map.of("lamp", UNITS));
    }

    @AfterEach
    void stop() {
        threads.shutdownNow();
        started.forEach(ChildJvm::close);
        operator.close();
        redis.close();
    }

    private ChildJvm example(String... args) {
        List<String> all = new ArrayList<>(List.of(args));
        all.addAll(List.of("--url", url));
        ChildJvm child = ChildJvm.start(MainWithParent.class, Map.of(), all);
        started.add(child);
        return child;
    }

    private record Instance(Buyer buyer, long pid) {
        static Instance from(ChildJvm child) {
            Matcher line = LISTENING.matcher(
                    child.awaitLine(text -> LISTENING.matcher(text).find(), SOON));
            assertThat(line.find()).isTrue();
            return new Instance(Buyer.at(line.group(1)), Long.parseLong(line.group(2)));
        }
    }

    private void awaitHolder(long pid) {
        Await.until(
                "process " + pid + " sells",
                SOON,
                () -> operator.named(Shop.lockName("lamp")).status().join().holders().stream()
                        .anyMatch(holder -> holder.pid().orElse(0) == pid));
    }

    /** Waits until the remaining time of the lock increases in the store. */
    private void awaitRenewal() {
        try (RawRedis raw = redis.connect()) {
            AtomicLong before = new AtomicLong(Long.MAX_VALUE);
            Await.until("the lock is renewed", SOON, () -> {
                long left = (Long) Objects.requireNonNull(
                        raw.call("PTTL", "lock:" + Shop.lockName("lamp").replace("/", "%2F")));
                return left > before.getAndSet(left);
            });
        }
    }

    @Test
    void eachUnitIsSoldOnceEvenIfAnInstanceIsKilledDuringASale() throws Exception {
        ChildJvm service = example("inventory", "--port", "0", "--file", stock.toString(), "--work-millis", "20");
        Instance victim = Instance.from(service);
        Instance other = Instance.from(service);
        Queue<Integer> sold = new ConcurrentLinkedQueue<>();
        AtomicInteger unanswered = new AtomicInteger();
        List<Future<?>> buyers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            boolean toTheVictim = i % 2 == 0;
            buyers.add(threads.submit(() -> {
                Buyer buyer = toTheVictim ? victim.buyer() : other.buyer();
                for (int status = 0; status != 409; ) {
                    try {
                        Buyer.Answer answer = buyer.buy("lamp");
                        status = answer.status();
                        assertThat(status).isIn(200, 409, 429, 503);
                        if (status == 200) {
                            sold.add(answer.number());
                        }
                    } catch (IOException e) {
                        assertThat(toTheVictim).isTrue();
                        unanswered.incrementAndGet(); // it is unknown whether the unit was sold
                        buyer = other.buyer();
                    }
                }
                return null;
            }));
        }
        Await.until("some are sold", SOON, () -> sold.size() > 20);
        awaitHolder(victim.pid());
        ProcessHandle.of(victim.pid()).orElseThrow().destroyForcibly();
        for (Future<?> buyer : buyers) {
            buyer.get(40, TimeUnit.SECONDS);
        }
        assertThat(sold).as("no unit is sold twice").doesNotHaveDuplicates();
        assertThat(sold).isSubsetOf(IntStream.rangeClosed(1, UNITS).boxed().toList());
        assertThat(unanswered.get()).isBetween(1, 4);
        assertThat(sold.size()).isBetween(UNITS - unanswered.get(), UNITS);
        assertThat(other.buyer().stock("lamp").number()).isZero();
    }

    @Test
    void saleOfAFrozenInstanceIsRefusedAfterAnotherInstanceHasSold() throws Exception {
        ChildJvm slow = example("inventory-instance", "--work-millis", "10000", stock.toString());
        ChildJvm quick = example("inventory-instance", stock.toString());
        Instance frozen = Instance.from(slow);
        Instance other = Instance.from(quick);
        CompletableFuture<Buyer.Answer> late = frozen.buyer().buyAsync("lamp");
        awaitHolder(frozen.pid());
        awaitRenewal(); // the process has received its grant by now
        slow.pause();
        assertThat(other.buyer().buyWithRetries("lamp")).isEqualTo(new Buyer.Answer(200, UNITS, false));
        assertThat(late).isNotDone();
        slow.resume();
        assertThat(late.get(40, TimeUnit.SECONDS)).isEqualTo(new Buyer.Answer(503, -1, true));
        assertThat(other.buyer().stock("lamp").number()).isEqualTo(UNITS - 1);
    }
}
