// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit.history;

import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockOptions;
import io.mortise.lock.connect.Locks;
import io.mortise.lock.testkit.process.StdinWatchdog;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;

/** Main class of a {@link HolderProcess}, which executes each command from the test in a separate thread. */
final class HolderMain implements HistoryRecorder, ProtectedResource {
    private final String process;
    private final HolderProtocol protocol = new HolderProtocol();
    private final CompletableFuture<LockClient> client = new CompletableFuture<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, RecordingLease> leases = new ConcurrentHashMap<>();
    private final Map<Long, CompletableFuture<Boolean>> writes = new ConcurrentHashMap<>();
    private final AtomicLong writeIds = new AtomicLong();
    private final Duration lease;
    /** Long enough for a machine that starts several JVMs at once. */
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(60);

    private volatile boolean stopped;
    private volatile boolean keepLease;

    private HolderMain(String process, Duration lease) {
        this.process = process;
        this.lease = lease;
    }

    static List<String> args(String process, String url, Duration lease) {
        return List.of(process, url, Long.toString(lease.toMillis()));
    }

    public static void main(String[] args) throws InterruptedException {
        HolderMain main = new HolderMain(args[0], Duration.ofMillis(Long.parseLong(args[2])));
        StdinWatchdog.install(main::onLine, () -> {});
        LockClient connected = Locks.connect(args[1], ClientOptions.defaults().connectTimeout(CONNECT_LIMIT));
        main.warmUp(connected);
        main.client.complete(connected);
        main.protocol.send(HolderProtocol.READY);
        Thread.currentThread().join(); // the watchdog terminates this JVM
    }

    /** Acquires a first lease outside the history, since loading the library's classes can take seconds on a busy machine. */
    private void warmUp(LockClient connected) throws InterruptedException {
        History discarded = new History();
        String name = "warm-up of " + process + " " + ProcessHandle.current().pid();
        RecordingLease granted = new RecordingLock(discarded, process, connected.named(name)).acquire();
        granted.checkHeld();
        granted.write(new FencedResource(discarded));
        granted.release();
        discarded.lines();
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    @Override
    public void record(HistoryEvent event) {
        protocol.send(HolderProtocol.EVENT + event.line());
    }

    /** Forwards the write to the resource, which is in the parent process. */
    @Override
    public boolean write(AcquireCallId call, long token) throws InterruptedException {
        long id = writeIds.incrementAndGet();
        CompletableFuture<Boolean> reply = new CompletableFuture<>();
        writes.put(id, reply);
        protocol.send(HolderProtocol.WRITE + id + " " + token + " " + encode(call.lock()) + " " + call.number());
        try {
            return reply.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private void onLine(String line) {
        if (line.startsWith(HolderProtocol.CLOCK)) {
            protocol.send(HolderProtocol.CLOCK + now());
        } else if (line.startsWith(HolderProtocol.WROTE)) {
            String[] words = line.split(" ", -1);
            Objects.requireNonNull(writes.remove(Long.parseLong(words[1])), line)
                    .complete(Boolean.parseBoolean(words[2]));
        } else {
            threads.execute(() -> execute(line.split(" ", -1)));
        }
    }

    private void execute(String[] words) {
        try {
            protocol.send(HolderProtocol.DONE + words[0] + " " + result(words));
        } catch (InterruptedException | RuntimeException e) {
            protocol.send(HolderProtocol.FAILED + words[0] + " " + encode(e.toString()));
        }
    }

    private String result(String[] words) throws InterruptedException {
        String name = words.length > 2 ? decode(words[2]) : "";
        return switch (words[1]) {
            case "acquire" -> {
                RecordingLease granted = lock(name).acquire();
                leases.put(name, granted);
                yield granted.token().isPresent()
                        ? Long.toString(granted.token().getAsLong())
                        : "-";
            }
            case "check" -> Boolean.toString(lease(name).checkHeld());
            case "write" -> Boolean.toString(lease(name).write(this));
            case "release" -> lease(name).release().name();
            case "work" -> Integer.toString(work(name, Integer.parseInt(words[3]), Long.parseLong(words[4])));
            case "keep" -> {
                keepLease = Boolean.parseBoolean(name);
                yield "";
            }
            case "stop" -> {
                stopped = true;
                yield "";
            }
            default -> throw new IllegalArgumentException(words[1]);
        };
    }

    private int work(String name, int threadCount, long seed) throws InterruptedException {
        List<Future<Integer>> working = new ArrayList<>();
        for (int i = 0; i < threadCount; i++) {
            RecordedAcquireLoop cycles = new RecordedAcquireLoop(lock(name), this, seed + i);
            working.add(threads.submit(() -> cycles.until(() -> stopped, () -> keepLease)));
        }
        int count = 0;
        for (Future<Integer> one : working) {
            try {
                count += one.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException(e);
            }
        }
        return count;
    }

    private RecordingLock lock(String name) {
        LockClient connected = client.join();
        LockOptions options = connected.capabilities().contains(Capability.PER_LOCK_LEASE)
                ? LockOptions.defaults().leaseDuration(lease)
                : LockOptions.defaults();
        return new RecordingLock(this, process, connected.named(name, options));
    }

    private RecordingLease lease(String name) {
        return Objects.requireNonNull(leases.get(name), "no lease: acquire must be called first");
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    static String decode(String word) {
        return URLDecoder.decode(word, StandardCharsets.UTF_8);
    }
}
