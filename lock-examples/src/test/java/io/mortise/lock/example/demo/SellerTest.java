// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.example.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.mortise.lock.example.inventory.FencedStockFile;
import java.nio.file.Path;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SellerTest {
    @TempDir
    Path dir = Path.of("");

    private final BlockingQueue<String> commands = new LinkedBlockingQueue<>();
    private final BlockingQueue<WorkerMessage> messages = new LinkedBlockingQueue<>();
    private final Seller seller = new Seller("demo", commands, messages::add);
    private final Thread thread = new Thread(this::run, "seller");
    private FencedStockFile stock = new FencedStockFile(Path.of(""));

    private void run() {
        try {
            seller.run();
        } catch (Exception e) {
            messages.add(new WorkerMessage.Ended(e.toString()));
        }
    }

    @BeforeEach
    void open() throws Exception {
        stock = SalesDemo.newStock(dir.resolve("stock"), 5);
        commands.add("open " + dir.resolve("stock"));
        thread.start();
        assertThat(next()).isEqualTo(new WorkerMessage.Ready());
        assertThat(next()).isEqualTo(new WorkerMessage.Done());
    }

    @AfterEach
    void end() throws InterruptedException {
        thread.interrupt();
        thread.join();
        seller.close();
    }

    private @Nullable WorkerMessage next() throws InterruptedException {
        return messages.poll(20, TimeUnit.SECONDS);
    }

    private void connect() throws InterruptedException {
        commands.add("connect memory:" + UUID.randomUUID());
        assertThat(next()).isEqualTo(new WorkerMessage.Done());
    }

    @Test
    void withoutTheLockUpdatesOfOthersAreOverwritten() throws Exception {
        commands.add("hold");
        assertThat(next()).isEqualTo(new WorkerMessage.Read(5, OptionalLong.empty()));
        stock.writeUnfenced(SalesDemo.ITEM, 2);
        commands.add("go");

        assertThat(next()).isEqualTo(new WorkerMessage.Sold(OptionalLong.empty()));
        assertThat(SalesDemo.left(stock)).isEqualTo(4);
    }

    @Test
    void withTheLockEachSaleHasItsOwnToken() throws Exception {
        connect();
        commands.add("sell 2 100");

        long token = 0;
        for (int left = 5; left > 2; left--) {
            token = tokenOf(next(), left, token);
            assertThat(next()).isEqualTo(new WorkerMessage.Sold(OptionalLong.of(token)));
        }
        long last = tokenOf(next(), 2, token);
        assertThat(next()).isEqualTo(new WorkerMessage.Done());
        assertThat(SalesDemo.left(stock)).isEqualTo(2);
        assertThatThrownBy(() -> stock.write(SalesDemo.ITEM, 1, last - 1)).hasMessageContaining("below " + last);
    }

    /** Checks a read under the lock, and returns its token, which must be above the token before. */
    private static long tokenOf(@Nullable WorkerMessage read, int left, long before) {
        assertThat(read).isInstanceOfSatisfying(WorkerMessage.Read.class, its -> {
            assertThat(its.stock()).isEqualTo(left);
            assertThat(its.token().orElseThrow()).isGreaterThan(before);
        });
        return ((WorkerMessage.Read) Objects.requireNonNull(read)).token().orElseThrow();
    }

    @Test
    void sellStopsAtTheMaximum() throws Exception {
        commands.add("sell 0 1");

        assertThat(next()).isInstanceOf(WorkerMessage.Read.class);
        assertThat(next()).isInstanceOf(WorkerMessage.Sold.class);
        assertThat(next()).isInstanceOf(WorkerMessage.Done.class);
    }

    @Test
    void refusedWriteIsReportedWithTheStateOfTheLease() throws Exception {
        connect();
        commands.add("hold");
        long token = tokenOf(next(), 5, 0);
        stock.write(SalesDemo.ITEM, 4, token + 8);
        commands.add("go");

        assertThat(next()).isEqualTo(new WorkerMessage.Refused(token, token + 8, true));
        assertThat(SalesDemo.left(stock)).isEqualTo(4);
    }
}
