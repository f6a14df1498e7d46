// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot;

import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.spi.LockUrl;
import java.time.Duration;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;

/**
 * The properties {@code mortise.*}.
 *
 * @param url URL of the store, such as redis://localhost:6379 or memory:test. Takes precedence over a connection that the
 *     application has.
 * @param namespace Prefix of the keys in Redis and etcd, or base path in ZooKeeper. Only without mortise.url, whose
 *     parameters set it instead. Defaults to that of the store's module.
 * @param leaseDuration How long Redis or etcd keeps the locks of a process that died, from 1s to 1h. Only without mortise.url, whose
 *     parameter "lease" sets it instead; in ZooKeeper the application's session decides. Defaults to 30s in Redis and 15s in etcd.
 * @param waitReplicas Number of Redis replicas that must have a grant before it counts, from 0 to 100. Only without
 *     mortise.url, whose parameter "waitReplicas" sets it instead. Defaults to 0.
 * @param connectTimeout How long the start may wait for the first response of the store.
 * @param requestTimeout How long a request to the store may take before its outcome counts as unknown.
 * @param unavailableAfter Length of an outage that ends a wait without a limit. Defaults to the lease duration.
 * @param locked Defaults of methods with the annotation Locked.
 */
@ConfigurationProperties("mortise")
public record LockProperties(
        @Nullable String url,
        @Nullable String namespace,
        @Nullable Duration leaseDuration,
        @Nullable Integer waitReplicas,
        @DefaultValue("10s") Duration connectTimeout,
        @DefaultValue("5s") Duration requestTimeout,
        @Nullable Duration unavailableAfter,
        @DefaultValue Locked locked) {

    /**
     * The defaults of methods with {@link io.mortise.lock.spring.Locked}.
     *
     * @param maxWait Longest time that a method waits for its lock, unless the annotation says otherwise or skips busy locks.
     */
    public record Locked(@DefaultValue("5s") Duration maxWait) {
        public Locked {
            if (maxWait.isNegative()) {
                throw new InvalidConfigurationPropertyValueException(
                        "mortise.locked.max-wait", maxWait, "Must be zero or more.");
            }
        }
    }

    public LockProperties {
        ClientOptions options =
                set("connect-timeout", connectTimeout, ClientOptions.defaults(), ClientOptions::connectTimeout);
        options = set("request-timeout", requestTimeout, options, ClientOptions::requestTimeout);
        set("unavailable-after", unavailableAfter, options, ClientOptions::unavailableAfter);
        if (url != null && url.isBlank()) {
            throw invalid("url", url, "Must be a URL such as redis://localhost:6379, or absent.");
        }
        if (url != null) {
            refuseWithUrl("namespace", namespace);
            refuseWithUrl("lease-duration", leaseDuration);
            refuseWithUrl("wait-replicas", waitReplicas);
        }
    }

    /** Returns the properties, without the secrets of the URL (S19). */
    @Override
    public String toString() {
        return "LockProperties[url=" + (url == null ? "null" : shown(url)) + ", namespace=" + namespace
                + ", leaseDuration=" + leaseDuration + ", waitReplicas=" + waitReplicas + ", connectTimeout="
                + connectTimeout + ", requestTimeout=" + requestTimeout + ", unavailableAfter=" + unavailableAfter
                + ", locked=" + locked + "]";
    }

    private static String shown(String url) {
        try {
            return LockUrl.parse(url).toString();
        } catch (LockConfigurationException e) {
            return "***";
        }
    }

    /** Returns the timeouts as options of the client. */
    ClientOptions clientOptions() {
        ClientOptions options =
                ClientOptions.defaults().connectTimeout(connectTimeout).requestTimeout(requestTimeout);
        return unavailableAfter == null ? options : options.unavailableAfter(unavailableAfter);
    }

    /**
     * Returns the options with the value of one property.
     *
     * @param property the end of its name, such as {@code lease-duration}
     * @param value null for the default
     * @throws InvalidConfigurationPropertyValueException if the options reject the value
     */
    static <O, V> O set(String property, @Nullable V value, O options, BiFunction<O, V, O> setter) {
        if (value == null) {
            return options;
        }
        try {
            return setter.apply(options, value);
        } catch (IllegalArgumentException e) {
            throw invalid(property, value, "The value is rejected: " + e.getMessage() + ".");
        }
    }

    /** Fails if the property is set although the store takes the value from somewhere else. */
    static void refuse(String property, @Nullable Object value, String reason) {
        if (value != null) {
            throw invalid(property, value, reason);
        }
    }

    private static void refuseWithUrl(String property, @Nullable Object value) {
        refuse(property, value, "Not possible together with mortise.url: use a parameter of the URL.");
    }

    private static InvalidConfigurationPropertyValueException invalid(String property, Object value, String reason) {
        return new InvalidConfigurationPropertyValueException("mortise." + property, value, reason);
    }
}
