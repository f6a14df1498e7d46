// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.scheduling.annotation.Async;

/** The kind of result of a {@link Locked} method, which decides until when it holds the lease. */
enum ReturnKind {
    /** With its return, whatever the result is. */
    VALUE,
    /** When its {@code CompletionStage} completes. */
    STAGE,
    /** When its {@code Future} completes, for which the thread of {@code @Async} waits. */
    FUTURE,
    /** When its {@code Mono} completes. */
    MONO,
    /** When its {@code Flux} completes. */
    FLUX;

    /** Types whose work goes on after the return, and whose end cannot be observed in general. */
    private static final Set<String> REFUSED = Set.of(
            "org.reactivestreams.Publisher",
            "java.util.concurrent.Flow$Publisher",
            "java.util.concurrent.Callable",
            "java.util.concurrent.Future",
            "kotlinx.coroutines.flow.Flow",
            "kotlinx.coroutines.Job",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    /**
     * Returns the kind of the method.
     *
     * @throws IllegalArgumentException if the lease could not be held until the end of its work, or if the method has no result
     *     that says that it was skipped
     */
    static ReturnKind of(Method method, BusyPolicy busy) {
        ReturnKind kind = of(method);
        if (busy == BusyPolicy.SKIP && !kind.canBeAbsent(method)) {
            throw new IllegalArgumentException(
                    "busy is SKIP, but " + method.getReturnType().getSimpleName()
                            + " has no value for a skipped call: return void, Optional or a type with @Nullable, or use FAIL");
        }
        return kind;
    }

    private static ReturnKind of(Method method) {
        Class<?>[] parameters = method.getParameterTypes();
        if (parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation")) {
            throw new IllegalArgumentException(
                    "a suspend function ends after its return, which cannot be observed here: "
                            + "use DistributedLock.callAsync, or a function that returns Mono or CompletableFuture");
        }
        Class<?> type = method.getReturnType();
        // By their names: Reactor may be missing.
        if (type.getName().equals("reactor.core.publisher.Mono")) {
            return MONO;
        }
        if (type.getName().equals("reactor.core.publisher.Flux")) {
            return FLUX;
        }
        if (type == CompletableFuture.class || type == CompletionStage.class) {
            return STAGE;
        }
        if (type == Future.class && isAsync(method)) {
            return FUTURE;
        }
        if (isRefused(type)) {
            throw new IllegalArgumentException("the work of a " + type.getSimpleName()
                    + " ends after the return, which cannot be observed here: return CompletableFuture, Mono or Flux");
        }
        return VALUE;
    }

    private static boolean isAsync(Method method) {
        return AnnotatedElementUtils.hasAnnotation(method, Async.class)
                || AnnotatedElementUtils.hasAnnotation(method.getDeclaringClass(), Async.class);
    }

    private static boolean isRefused(@Nullable Class<?> type) {
        return type != null
                && (REFUSED.contains(type.getName())
                        || type.getName().startsWith("io.reactivex.")
                        || isRefused(type.getSuperclass())
                        || Arrays.stream(type.getInterfaces()).anyMatch(ReturnKind::isRefused));
    }

    private boolean canBeAbsent(Method method) {
        return switch (this) {
            case MONO, FLUX -> true;
            case STAGE, FUTURE -> {
                Class<?> value = valueOfStage(method);
                yield value == Void.class || value == Optional.class;
            }
            case VALUE -> {
                Class<?> type = method.getReturnType();
                yield type == void.class || type == Void.class || type == Optional.class || isNullable(method);
            }
        };
    }

    /** Returns the result of a call that was skipped; not for {@link #MONO} and {@link #FLUX}, which are empty then. */
    @Nullable
    Object absent(Method method) {
        return switch (this) {
            case STAGE, FUTURE ->
                CompletableFuture.completedFuture(valueOfStage(method) == Optional.class ? Optional.empty() : null);
            default -> method.getReturnType() == Optional.class ? Optional.empty() : null;
        };
    }

    private static @Nullable Class<?> valueOfStage(Method method) {
        return ResolvableType.forMethodReturnType(method).getGeneric(0).resolve();
    }

    /** Accepts the annotation of any library: JSpecify's stands on the type, others stand on the method. */
    private static boolean isNullable(Method method) {
        return !method.getReturnType().isPrimitive()
                && Stream.of(
                                method.getAnnotations(),
                                method.getAnnotatedReturnType().getAnnotations())
                        .flatMap(Arrays::stream)
                        .map(Annotation::annotationType)
                        .anyMatch(type -> type.getSimpleName().equals("Nullable"));
    }
}
