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
import org.springframework.core.ReactiveAdapterRegistry;
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

    /** Types whose work goes on after the return, or only begins then, and whose end cannot be observed in general. */
    private static final Set<String> REFUSED = Set.of(
            "org.reactivestreams.Publisher",
            "java.util.concurrent.CompletionStage",
            "java.util.concurrent.Flow$Publisher",
            "java.util.concurrent.Callable",
            "java.util.concurrent.Future",
            "java.util.stream.BaseStream",
            "java.util.Iterator",
            "java.util.Spliterator",
            "kotlin.sequences.Sequence",
            "kotlinx.coroutines.flow.Flow",
            "kotlinx.coroutines.Job",
            "io.smallrye.mutiny.Uni",
            "org.springframework.web.context.request.async.DeferredResult",
            "org.springframework.web.context.request.async.WebAsyncTask",
            "org.springframework.web.servlet.mvc.method.annotation.ResponseBodyEmitter",
            "org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody");

    private static final Set<String> HTTP_ENTITY = Set.of("org.springframework.http.HttpEntity");

    /**
     * Returns the kind of the method.
     *
     * @param targetClass the class of the bean, which decides what a type variable is
     * @throws IllegalArgumentException if the lease could not be held until the end of its work, or if the method has no result
     *     that says that it was skipped
     */
    static ReturnKind of(Method method, Class<?> targetClass, BusyPolicy busy) {
        ResolvableType result = ResolvableType.forMethodReturnType(method, targetClass);
        ReturnKind kind = of(method, targetClass, result);
        if (busy == BusyPolicy.SKIP && !kind.canBeAbsent(method, result)) {
            throw new IllegalArgumentException(
                    "busy is SKIP, but " + result.toClass().getSimpleName()
                            + " has no value for a skipped call: return void, Optional or a type with @Nullable, or use FAIL");
        }
        return kind;
    }

    private static ReturnKind of(Method method, Class<?> targetClass, ResolvableType result) {
        Class<?>[] parameters = method.getParameterTypes();
        if (parameters.length > 0
                && parameters[parameters.length - 1].getName().equals("kotlin.coroutines.Continuation")) {
            throw new IllegalArgumentException(
                    "a suspend function ends after its return, which cannot be observed here: "
                            + "use DistributedLock.callAsync, or a function that returns Mono or CompletableFuture");
        }
        Class<?> type = result.toClass();
        ReturnKind kind = of(type, isAsync(method, targetClass));
        ResolvableType value = kind == VALUE ? result : result.getGeneric(0);
        refuse(value.toClass());
        while (value.toClass() == Optional.class || isA(value.toClass(), HTTP_ENTITY)) {
            value = value.getGeneric(0);
            refuse(value.toClass());
        }
        return kind;
    }

    private static ReturnKind of(Class<?> type, boolean async) {
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
        return type == Future.class && async ? FUTURE : VALUE;
    }

    private static boolean isAsync(Method method, Class<?> targetClass) {
        return Stream.of(method, method.getDeclaringClass(), targetClass)
                .anyMatch(element -> AnnotatedElementUtils.hasAnnotation(element, Async.class));
    }

    private static void refuse(Class<?> type) {
        if (isLate(type)) {
            throw new IllegalArgumentException("the work of a " + type.getSimpleName()
                    + " ends after the return, which cannot be observed here: return CompletableFuture, Mono or Flux, "
                    + "or a collection with what it gives");
        }
    }

    private static boolean isLate(Class<?> type) {
        return isA(type, REFUSED)
                || type.getName().startsWith("io.reactivex.")
                || ReactiveAdapterRegistry.getSharedInstance().getAdapter(type) != null;
    }

    private static boolean isA(@Nullable Class<?> type, Set<String> names) {
        return type != null
                && (names.contains(type.getName())
                        || isA(type.getSuperclass(), names)
                        || Arrays.stream(type.getInterfaces()).anyMatch(each -> isA(each, names)));
    }

    /**
     * Checks a result whose type did not say whether its work ends later, such as {@code Object}.
     *
     * @param origin what returned it, for the message
     * @param advice what to do instead
     * @throws IllegalStateException if the work ends later
     */
    static <T extends @Nullable Object> T refuseLate(T result, String origin, String advice) {
        Object value = result instanceof Optional<?> optional ? optional.orElse(null) : result;
        boolean ended = value instanceof Future<?> future && future.isDone();
        if (value != null && !ended && isLate(value.getClass())) {
            throw new IllegalStateException(origin + " returned a "
                    + value.getClass().getName()
                    + ", whose work may go on without the lock, which is released now: " + advice);
        }
        return result;
    }

    private boolean canBeAbsent(Method method, ResolvableType result) {
        return switch (this) {
            case MONO, FLUX -> true;
            case STAGE, FUTURE -> {
                Class<?> value = result.getGeneric(0).resolve();
                yield value == Void.class || value == Optional.class;
            }
            case VALUE -> {
                Class<?> type = result.toClass();
                yield type == void.class || type == Void.class || type == Optional.class || isNullable(method);
            }
        };
    }

    /** Returns the result of a call that was skipped; not for {@link #MONO} and {@link #FLUX}, which are empty then. */
    @Nullable
    Object absent(Method method, Class<?> targetClass) {
        ResolvableType result = ResolvableType.forMethodReturnType(method, targetClass);
        return switch (this) {
            case STAGE, FUTURE ->
                CompletableFuture.completedFuture(
                        result.getGeneric(0).resolve() == Optional.class ? Optional.empty() : null);
            default -> result.toClass() == Optional.class ? Optional.empty() : null;
        };
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
