// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.node;

import io.mortise.lock.redis.script.ScriptCall;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes requests in the order in which they were submitted. A channel's own thread writes at once, ahead of what other
 * threads have handed to it and it has not come to yet: a vote could be asked for before the last one is given back, or a lock
 * be released before it is acquired. What that thread sends while there is such a thing goes behind it, by way of another
 * thread.
 */
final class OrderedWriter {
    private final Supplier<? extends Executor> elsewhere;
    private final AtomicInteger unwritten = new AtomicInteger();
    private volatile @Nullable Thread writer;

    /** @param elsewhere runs one after the other, and never on the channel's thread */
    OrderedWriter(Supplier<? extends Executor> elsewhere) {
        this.elsewhere = elsewhere;
    }

    /** On the channel's own thread. */
    void onWriter() {
        Thread here = Thread.currentThread();
        if (writer != here) {
            writer = here;
        }
    }

    /** The next channel may have another thread. */
    void lost() {
        writer = null;
    }

    /**
     * Hands it over.
     *
     * @param dispatch writes the call, or ends it
     */
    void send(ScriptCall call, Runnable dispatch) {
        boolean onWriter = Thread.currentThread() == writer;
        if (onWriter && unwritten.get() == 0) {
            dispatch.run();
            return;
        }
        unwritten.incrementAndGet();
        call.whenWritten(unwritten::decrementAndGet);
        if (onWriter) {
            elsewhere.get().execute(dispatch);
        } else {
            dispatch.run();
        }
    }
}
