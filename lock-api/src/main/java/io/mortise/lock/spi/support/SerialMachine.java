// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs a state machine whose events come from several threads, one event at a time and in their order.
 *
 * <p>A thread that brings an event while no other is at work takes it, and all that come meanwhile, on the spot: there is no
 * executor, and no monitor is held while an effect is performed. An event that comes during an effect, also one from the
 * effect itself, waits until all effects of the present event have been performed, so the stack stays flat. Thread-safe.
 *
 * <p>An effect that calls back, such as completing a future, leaves that to {@link #afterwards}. What the callee does next then
 * need not wait for the thread at work: a lock's next request is sent before its caller continues.
 *
 * @param <S> the states: values
 * @param <E> the events: values
 * @param <F> the effects: values that tell what to do after a step, such as sending a request
 */
public final class SerialMachine<S, E, F> implements Consumer<E> {
    private final BiFunction<S, E, ? extends Step<S, F>> transition;
    private final Consumer<F> performer;
    private final Consumer<F> performerOrFailure = this::perform;
    private final BiFunction<F, Throwable, @Nullable E> onFailure;
    private final Queue<E> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger eventCount = new AtomicInteger(); // with the one that is being taken
    private S state; // only the thread at work uses it, as the next field
    private List<Runnable> actions = List.of();

    /** The outcome of one event. */
    public interface Step<S, F> {
        /** Returns the next state. */
        S state();

        /** Returns what to do now, in this order. */
        List<F> effects();
    }

    /**
     * Creates a machine.
     *
     * @param transition returns what an event leads to in a state. It is pure; for an event that is impossible in that state
     *     it throws, and the state remains
     * @param performer performs one effect. It must not block, and may call {@link #accept} and {@link #afterwards}
     * @param onFailure returns the event that comes instead of what an effect was to lead to, if the performer throws an exception
     *     or an error; null if the effect leads to nothing
     */
    public SerialMachine(
            S initial,
            BiFunction<S, E, ? extends Step<S, F>> transition,
            Consumer<F> performer,
            BiFunction<F, Throwable, @Nullable E> onFailure) {
        this.state = initial;
        this.transition = transition;
        this.performer = performer;
        this.onFailure = onFailure;
    }

    /**
     * Takes an event now, or leaves it to the thread that is at work. The events of one thread are taken in their order.
     *
     * @throws RuntimeException the first exception of a transition, an action, or an effect that leads to nothing, while this call was
     *     at work, with later ones suppressed; all other effects and events have been taken care of nevertheless
     */
    @Override
    public void accept(E event) {
        // Not queued if nobody is at work, and no earlier event of this thread can be in the queue.
        E next = event;
        if (!events.isEmpty() || !eventCount.compareAndSet(0, 1)) {
            events.add(event);
            if (eventCount.getAndIncrement() > 0) {
                return; // another thread is at work, or this one is, further up its stack
            }
            next = events.remove();
        }
        @Nullable Throwable failure = null;
        boolean atWork = true;
        while (atWork) {
            failure = take(next, failure);
            List<Runnable> left = actions;
            actions = List.of();
            atWork = eventCount.decrementAndGet() > 0;
            next = atWork ? events.remove() : next;
            for (Runnable action : left) {
                try {
                    action.run();
                } catch (Throwable e) {
                    failure = EffectPerformer.first(failure, e);
                }
            }
        }
        EffectPerformer.rethrow(failure);
    }

    private @Nullable Throwable take(E event, @Nullable Throwable earlierFailure) {
        try {
            Step<S, F> step = transition.apply(state, event);
            state = step.state();
            EffectPerformer.performAll(step.effects(), performerOrFailure);
            return earlierFailure;
        } catch (Throwable e) { // the other events must not be lost
            return EffectPerformer.first(earlierFailure, e);
        }
    }

    /** Performs an effect. If that fails, nobody must wait for what the effect was to lead to. */
    private void perform(F effect) {
        try {
            performer.accept(effect);
        } catch (Throwable e) {
            @Nullable E instead = onFailure.apply(effect, e);
            if (instead == null) {
                EffectPerformer.rethrow(e);
            } else {
                accept(instead);
            }
        }
    }

    /**
     * Runs an action after all effects of the present event, and once the thread at work has left the machine, unless another
     * event is waiting. To be called by an effect, on its thread.
     */
    public void afterwards(Runnable action) {
        if (actions.isEmpty()) {
            actions = new ArrayList<>(1);
        }
        actions.add(action);
    }

    /** Completes the future of a call {@linkplain #afterwards afterwards}. To be called by an effect, on its thread. */
    public <T> void complete(CompletableFuture<T> call, T result) {
        afterwards(() -> call.complete(result));
    }

    /** Fails the future of a call {@linkplain #afterwards afterwards}. To be called by an effect, on its thread. */
    public void fail(CompletableFuture<?> call, Throwable cause) {
        afterwards(() -> call.completeExceptionally(cause));
    }
}
