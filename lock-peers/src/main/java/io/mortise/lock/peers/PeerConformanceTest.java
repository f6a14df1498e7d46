// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.peers;

import io.mortise.lock.testkit.BackendUnderTest;
import io.mortise.lock.testkit.LockConformance;
import java.lang.reflect.Method;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;
import org.opentest4j.TestAbortedException;

/** The tests of the conformance kit, run against the lock library that {@link PeerRun} selects. */
@ExtendWith(PeerConformanceTest.ScopeInterceptor.class)
final class PeerConformanceTest extends LockConformance {
    private static volatile @Nullable Peer peer;
    private static volatile @Nullable PeerTestServers store;
    private static final Map<String, List<String>> notes = new ConcurrentHashMap<>();

    private @Nullable PeerBackendUnderTest backend;

    /** Selects the peer for the tests that run from now on. */
    static void select(Peer selected, PeerTestServers on) {
        peer = selected;
        store = on;
    }

    /**
     * Removes and returns what the clients of one test reported.
     *
     * @param testId JUnit's unique id of the test
     */
    static List<String> takeNotes(String testId) {
        return Objects.requireNonNullElse(notes.remove(testId), List.of());
    }

    @Override
    protected BackendUnderTest backend() {
        PeerBackendUnderTest opened =
                new PeerBackendUnderTest(Objects.requireNonNull(peer), Objects.requireNonNull(store));
        backend = opened;
        return opened;
    }

    /** Aborts the tests that are out of {@link PeerTestFilter}, and those that use what the peer does not claim. */
    static final class ScopeInterceptor implements InvocationInterceptor {
        @Override
        public void interceptTestMethod(
                Invocation<@Nullable Void> invocation,
                ReflectiveInvocationContext<Method> test,
                ExtensionContext context)
                throws Throwable {
            proceedIfInScope(invocation, test, context);
        }

        @Override
        public void interceptTestTemplateMethod(
                Invocation<@Nullable Void> invocation,
                ReflectiveInvocationContext<Method> test,
                ExtensionContext context)
                throws Throwable {
            proceedIfInScope(invocation, test, context);
        }

        private static void proceedIfInScope(
                Invocation<@Nullable Void> invocation,
                ReflectiveInvocationContext<Method> test,
                ExtensionContext context)
                throws Throwable {
            String argument = test.getArguments().isEmpty()
                    ? ""
                    : String.valueOf(test.getArguments().get(0));
            Optional<String> reason = PeerTestFilter.reasonToSkip(
                    Objects.requireNonNull(peer), test.getExecutable().getName(), argument);
            if (reason.isPresent()) {
                invocation.skip();
                throw new TestAbortedException(reason.get());
            }
            PeerBackendUnderTest tested =
                    Objects.requireNonNull(((PeerConformanceTest) context.getRequiredTestInstance()).backend);
            tested.test().begin(test.getExecutable().getName());
            try {
                invocation.proceed();
            } catch (Throwable e) {
                throw aborted(tested).map(abort -> (Throwable) abort).orElse(e);
            } finally {
                notes.put(context.getUniqueId(), tested.notes());
            }
            Optional<TestAbortedException> swallowed = aborted(tested);
            if (swallowed.isPresent()) {
                throw swallowed.get();
            }
        }

        /** Returns the abort of a call on any thread of the test, whatever the test made of it. */
        private static Optional<TestAbortedException> aborted(PeerBackendUnderTest tested) {
            return tested.test().missing().map(UnclaimedGuaranteeAbort::abort);
        }
    }
}
