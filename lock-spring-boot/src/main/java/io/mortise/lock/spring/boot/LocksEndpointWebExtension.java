// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.InvalidEndpointRequestException;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;

/**
 * The {@link LocksEndpoint} over HTTP: answers invalid parameters with 400 and the reason, which Spring Boot's own answer hides by
 * default. Thread-safe.
 */
@EndpointWebExtension(endpoint = LocksEndpoint.class)
public final class LocksEndpointWebExtension {
    private final LocksEndpoint endpoint;

    /** Creates the extension of an endpoint. */
    public LocksEndpointWebExtension(LocksEndpoint endpoint) {
        this.endpoint = endpoint;
    }

    /** Answers with {@link LocksEndpoint#locks}. */
    @ReadOperation
    public WebEndpointResponse<Object> locks(
            @Nullable String name, @Nullable String prefix, @Nullable Integer limit, @Nullable String cursor) {
        return answer(() -> endpoint.locks(name, prefix, limit, cursor));
    }

    /** Answers with {@link LocksEndpoint#forceRelease}. */
    @DeleteOperation
    public WebEndpointResponse<Object> forceRelease(String name, long token) {
        return answer(() -> endpoint.forceRelease(name, token));
    }

    private static WebEndpointResponse<Object> answer(Supplier<Object> operation) {
        try {
            return new WebEndpointResponse<>(operation.get());
        } catch (InvalidEndpointRequestException e) {
            return new WebEndpointResponse<>(Map.of("error", e.getReason()), WebEndpointResponse.STATUS_BAD_REQUEST);
        }
    }
}
