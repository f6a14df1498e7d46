// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.OptionalLong;
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
    private final BlockingQueue<Message> said = new LinkedBlockingQueue<>();
    private final Seller seller = new Seller("w1", "demo", commands, said::add);
    private final Thread thread = new Thread(this::run, "seller");
    private Inventory inventory = new Inventory(Path.of("x"));

    private void run() {
        try {
            seller.run();
        } catch (Exception e) {
            said.add(new Message.Ended(e.toString()));
        }
    }

    @BeforeEach
    void open() throws Exception {
        inventory = Inventory.create(dir.resolve("inventory"), 5);
        commands.add("open " + dir.resolve("inventory"));
        thread.start();
        assertThat(next()).isEqualTo(new Message.Ready());
        assertThat(next()).isEqualTo(new Message.Done());
    }

    @AfterEach
    void end() throws InterruptedException {
        thread.interrupt();
        thread.join();
        seller.close();
    }

    private @Nullable Message next() throws InterruptedException {
        return said.poll(20, TimeUnit.SECONDS);
    }

    private void connect() throws InterruptedException {
        commands.add("connect file-test:" + dir);
        assertThat(next()).isEqualTo(new Message.Done());
    }

    @Test
    void withoutTheLockItOverwritesWhatOthersWroteMeanwhile() throws Exception {
        commands.add("hold");
        assertThat(next()).isEqualTo(new Message.Read(5, OptionalLong.empty()));
        inventory.write(2, OptionalLong.empty(), "other");
        commands.add("go");

        assertThat(next()).isEqualTo(new Message.Sold(OptionalLong.empty()));
        assertThat(inventory.read().left()).isEqualTo(4);
    }

    @Test
    void withTheLockEachSaleHasATokenOfItsOwn() throws Exception {
        connect();
        commands.add("sell 2 100");

        for (int left = 5; left > 2; left--) {
            OptionalLong token = OptionalLong.of(6 - left);
            assertThat(next()).isEqualTo(new Message.Read(left, token));
            assertThat(next()).isEqualTo(new Message.Sold(token));
        }
        assertThat(next()).isEqualTo(new Message.Read(2, OptionalLong.of(4)));
        assertThat(next()).isEqualTo(new Message.Done());
        assertThat(inventory.read()).isEqualTo(new Stock(2, 3, 3, 0, 0, 0, "w1"));
    }

    @Test
    void aSaleMayStopAtANumber() throws Exception {
        commands.add("sell 0 1");

        assertThat(next()).isInstanceOf(Message.Read.class);
        assertThat(next()).isInstanceOf(Message.Sold.class);
        assertThat(next()).isInstanceOf(Message.Done.class);
    }

    @Test
    void aRefusedWriteIsReportedWithWhatTheLeaseBelieves() throws Exception {
        connect();
        commands.add("hold");
        assertThat(next()).isEqualTo(new Message.Read(5, OptionalLong.of(1)));
        inventory.write(4, OptionalLong.of(9), "other");
        commands.add("go");

        assertThat(next()).isEqualTo(new Message.Refused(1, 9, true));
        assertThat(inventory.read().left()).isEqualTo(4);
    }
}
