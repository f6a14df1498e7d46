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

/** Main class of a {@link HolderProcess}: executes each command on a thread of its own. */
final class HolderMain implements EventRecorder, ProtectedResource {
    private final String process;
    private final HolderProtocol lines = new HolderProtocol();
    private final CompletableFuture<LockClient> client = new CompletableFuture<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final Map<String, RecordingLease> leases = new ConcurrentHashMap<>();
    private final Map<Long, CompletableFuture<Boolean>> writes = new ConcurrentHashMap<>();
    private final AtomicLong writeIds = new AtomicLong();
    private final Duration lease;
    /** For a machine that starts several JVMs at once. */
    private static final Duration CONNECT_LIMIT = Duration.ofSeconds(60);

    private volatile boolean stopped;
    private volatile boolean keeps;

    private HolderMain(String process, Duration lease) {
        this.process = process;
        this.lease = lease;
    }

    static List<String> args(String process, String url, Duration lease) {
        return List.of(process, url, Long.toString(lease.toMillis()));
    }

    public static void main(String[] args) throws InterruptedException {
        HolderMain main = new HolderMain(args[0], Duration.ofMillis(Long.parseLong(args[2])));
        StdinWatchdog.install(main::heard, () -> {});
        LockClient connected = Locks.connect(args[1], ClientOptions.defaults().connectTimeout(CONNECT_LIMIT));
        main.warmUp(connected);
        main.client.complete(connected);
        main.lines.say(HolderProtocol.READY);
        Thread.currentThread().join(); // the watchdog ends this JVM
    }

    /** The first lease loads half of the library, which takes seconds on a busy machine: that is no part of any history. */
    private void warmUp(LockClient connected) throws InterruptedException {
        History unread = new History();
        String own = "warm-up of " + process + " " + ProcessHandle.current().pid();
        RecordingLease granted = new RecordingLock(unread, process, connected.named(own)).acquire();
        granted.checkHeld();
        granted.write(new FencedResource(unread));
        granted.release();
        unread.lines();
    }

    @Override
    public long now() {
        return System.nanoTime();
    }

    @Override
    public void record(HistoryEvent event) {
        lines.say(HolderProtocol.EVENT + event.line());
    }

    /** The resource is the parent's. */
    @Override
    public boolean write(AcquireCallId call, long token) throws InterruptedException {
        long id = writeIds.incrementAndGet();
        CompletableFuture<Boolean> answer = new CompletableFuture<>();
        writes.put(id, answer);
        lines.say(HolderProtocol.WRITE + id + " " + token + " " + encode(call.lock()) + " " + call.ask());
        try {
            return answer.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    private void heard(String line) {
        if (line.startsWith(HolderProtocol.CLOCK)) {
            lines.say(HolderProtocol.CLOCK + now());
        } else if (line.startsWith(HolderProtocol.WROTE)) {
            String[] words = line.split(" ", -1);
            Objects.requireNonNull(writes.remove(Long.parseLong(words[1])), line)
                    .complete(Boolean.parseBoolean(words[2]));
        } else {
            threads.execute(() -> obey(line.split(" ", -1)));
        }
    }

    private void obey(String[] words) {
        try {
            lines.say(HolderProtocol.DONE + words[0] + " " + result(words));
        } catch (InterruptedException | RuntimeException e) {
            lines.say(HolderProtocol.FAILED + words[0] + " " + encode(e.toString()));
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
            case "check" -> Boolean.toString(leased(name).checkHeld());
            case "write" -> Boolean.toString(leased(name).write(this));
            case "release" -> leased(name).release().name();
            case "work" -> Integer.toString(work(name, Integer.parseInt(words[3]), Long.parseLong(words[4])));
            case "keep" -> {
                keeps = Boolean.parseBoolean(name);
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
            HistoryWorkload cycles = new HistoryWorkload(lock(name), this, seed + i);
            working.add(threads.submit(() -> cycles.until(() -> stopped, () -> keeps)));
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

    private RecordingLease leased(String name) {
        return Objects.requireNonNull(leases.get(name), "acquire comes first");
    }

    static String encode(String text) {
        return URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    static String decode(String word) {
        return URLDecoder.decode(word, StandardCharsets.UTF_8);
    }
}
