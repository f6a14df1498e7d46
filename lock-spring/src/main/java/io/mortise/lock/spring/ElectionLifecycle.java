// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import io.mortise.lock.recipe.Election;
import io.mortise.lock.recipe.ElectionListener;
import io.mortise.lock.recipe.ElectionOptions;
import io.mortise.lock.recipe.Term;
import io.mortise.lock.recipe.TermBody;
import io.mortise.lock.recipe.TermEnd;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.ApplicationEventPublisherAware;
import org.springframework.context.SmartLifecycle;

/**
 * Bean that campaigns in an election of a leader while its application context runs.
 *
 * <p>By default the campaign starts last and stops first: after the beans that the body needs and after a web server, and before
 * either stops. The stop ends the term and blocks no other bean; its phase ends when the body has ended and the lock is released,
 * or after the context's shutdown timeout. Beans are destroyed after that, the lock client included. A context that is started
 * again campaigns again. Publishes {@link TermStartedEvent} and {@link TermEndedEvent}. Thread-safe, apart from the setters.
 */
public final class ElectionLifecycle implements SmartLifecycle, ApplicationEventPublisherAware, AutoCloseable {
    private static final Logger log = LoggerFactory.getLogger(ElectionLifecycle.class);

    private final ElectionOptions options;
    private final TermBody body;
    private final ReentrantLock state = new ReentrantLock();
    private int phase = DEFAULT_PHASE;
    private boolean autoStartup = true;
    private @Nullable ApplicationEventPublisher events;
    private boolean started;
    private boolean deferred; // started, but the body of the latest campaign still runs
    private @Nullable Election latest;

    /**
     * Creates a candidate, which campaigns when the context starts.
     *
     * @param options what {@link Election#on} returns, with the settings of the application
     * @param body the work of the leader
     */
    public ElectionLifecycle(ElectionOptions options, TermBody body) {
        this.options = Objects.requireNonNull(options, "options").listener(new TermPublisher());
        this.body = Objects.requireNonNull(body, "body");
    }

    /**
     * Sets the phase: a greater one starts later and stops earlier. Default: {@link SmartLifecycle#DEFAULT_PHASE}, the greatest.
     */
    public void setPhase(int phase) {
        this.phase = phase;
    }

    /** Sets whether the campaign starts with the context, or only by {@link #start()}. Default: true. */
    public void setAutoStartup(boolean autoStartup) {
        this.autoStartup = autoStartup;
    }

    @Override
    public void setApplicationEventPublisher(ApplicationEventPublisher publisher) {
        events = publisher;
    }

    /** Returns the current campaign, to ask who leads or to resign; empty while this bean does not campaign. */
    public Optional<Election> election() {
        state.lock();
        try {
            return started && !deferred ? Optional.ofNullable(latest) : Optional.empty();
        } finally {
            state.unlock();
        }
    }

    /**
     * Starts a campaign, unless there is one. If the body of an earlier one ignores its stop and still runs, the campaign starts
     * when that has ended, so that two bodies never run at a time.
     */
    @Override
    public void start() {
        Election earlier;
        state.lock();
        try {
            if (isRunning()) {
                return;
            }
            started = true;
            deferred = true;
            earlier = latest;
        } finally {
            state.unlock();
        }
        CompletableFuture<?> ended = earlier == null ? CompletableFuture.completedFuture(null) : earlier.closeAsync();
        if (ended.isDone()) {
            campaignAfter(earlier);
            return;
        }
        log.warn("event=election-start-deferred hint=\"the body of the earlier campaign ignores its stop\"");
        ended.thenRun(() -> campaignAfter(earlier)).exceptionally(failure -> {
            log.warn("event=election-start-failed", failure);
            return null;
        });
    }

    /** Starts a campaign, unless it was stopped meanwhile, or another start has waited for the same end. */
    private void campaignAfter(@Nullable Election earlier) {
        state.lock();
        try {
            if (started && latest == earlier) {
                deferred = false; // also if there is no thread for the campaign
                latest = options.run(body);
            }
        } finally {
            state.unlock();
        }
    }

    /** Stops the body, and waits for it at most for the {@linkplain ElectionOptions#stopTimeout stop timeout}. */
    @Override
    public void stop() {
        markStopped().ifPresent(Election::close);
    }

    /** Stops the body without waiting; the callback runs when it has ended and the lock is released. */
    @Override
    public void stop(Runnable callback) {
        Optional<Election> stopped = markStopped();
        if (stopped.isPresent()) {
            stopped.get().closeAsync().thenRun(callback);
        } else {
            callback.run();
        }
    }

    /** Returns the campaign whose body may still run; while a start is deferred, that is the earlier one. */
    private Optional<Election> markStopped() {
        state.lock();
        try {
            Optional<Election> current = started ? Optional.ofNullable(latest) : Optional.empty();
            started = false;
            deferred = false;
            return current;
        } finally {
            state.unlock();
        }
    }

    /** Returns whether this candidate campaigns or leads; false also after its client was closed. */
    @Override
    public boolean isRunning() {
        state.lock();
        try {
            return started && (deferred || (latest != null && latest.isRunning()));
        } finally {
            state.unlock();
        }
    }

    @Override
    public int getPhase() {
        return phase;
    }

    @Override
    public boolean isAutoStartup() {
        return autoStartup;
    }

    /** Stops a campaign that no lifecycle has stopped, as after a failed start of the context. */
    @Override
    public void close() {
        stop();
    }

    @Override
    public String toString() {
        return election().map(Election::toString).orElse("ElectionLifecycle[stopped]");
    }

    /** Publishes the terms of the campaigns as application events. */
    private final class TermPublisher implements ElectionListener {
        @Override
        public void elected(Term term) {
            publish(new TermStartedEvent(term));
        }

        @Override
        public void ended(Term term, TermEnd end) {
            publish(new TermEndedEvent(term, end));
        }

        private void publish(Object event) {
            if (events != null) {
                events.publishEvent(event);
            }
        }
    }
}
