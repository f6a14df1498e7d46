// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.testkit;

import io.mortise.lock.Capability;
import io.mortise.lock.testkit.report.BackendFacts;
import io.mortise.lock.testkit.report.Hook;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/** Reads the properties of a backend that are shown in the report, without sending requests to its store. */
final class BackendFactsReader {
    private BackendFactsReader() {}

    static BackendFacts read(BackendUnderTest backend, Set<Capability> capabilities) {
        return new BackendFacts(
                backend.description(),
                backend.getClass().getName().replaceFirst("\\$\\$Lambda.*", ""),
                capabilities.stream().map(Enum::name).sorted().toList(),
                backend.lease().toMillis(),
                backend.takeoverWithin().toMillis(),
                Arrays.stream(Hook.values())
                        .filter(hook -> isImplemented(hook, backend))
                        .map(Enum::name)
                        .toList());
    }

    /** Returns whether the class overrides the method of the hook. A client that has no LockAdmin says so in its test. */
    private static boolean isImplemented(Hook hook, BackendUnderTest backend) {
        return switch (hook) {
            case LINK, EXPIRE_SESSION, DELETE_GRANT, STOP_SERVER ->
                overrides(backend.faults().getClass(), Faults.class, hook.shortName());
            case REQUESTS, URL -> overrides(backend.getClass(), BackendUnderTest.class, hook.shortName());
            case ADMIN -> true;
        };
    }

    private static boolean overrides(Class<?> type, Class<?> declaring, String method) {
        List<Class<?>> parameters = Arrays.stream(declaring.getMethods())
                .filter(candidate -> candidate.getName().equals(method))
                .findFirst()
                .<List<Class<?>>>map(candidate -> List.of(candidate.getParameterTypes()))
                .orElse(List.of());
        try {
            Method found = type.getMethod(method, parameters.toArray(new Class<?>[0]));
            return found.getDeclaringClass() != declaring;
        } catch (NoSuchMethodException e) {
            return false;
        }
    }
}
