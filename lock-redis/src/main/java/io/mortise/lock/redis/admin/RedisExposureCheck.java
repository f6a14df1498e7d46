// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.redis.node.RedisNodeClient;
import io.mortise.lock.spi.support.StoreExposureCheck;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/** Checks whether Redis servers are protected against unauthorized access, judging by their URIs and settings. */
public final class RedisExposureCheck {
    private RedisExposureCheck() {}

    /**
     * Returns the check of these URIs; empty if nothing is known, as for an application-supplied client or a Unix socket.
     *
     * @param certificates whether the application configured TLS: a certificate may identify the client
     */
    public static Optional<StoreExposureCheck> of(String endpoints, List<RedisURI> uris, boolean certificates) {
        List<RedisURI> remote =
                uris.stream().filter(uri -> uri.getSocket() == null).toList();
        if (remote.isEmpty()) {
            return Optional.empty();
        }
        boolean encrypted = remote.stream().allMatch(RedisURI::isSsl);
        return Optional.of(new StoreExposureCheck(
                endpoints,
                StoreExposureCheck.isLoopback(
                        remote.stream().flatMap(RedisExposureCheck::hosts).toList()),
                remote.stream().allMatch(RedisExposureCheck::hasPassword) || (encrypted && certificates),
                remote.stream().anyMatch(RedisExposureCheck::hasPassword),
                encrypted,
                remote.stream().allMatch(uri -> !uri.isSsl() || uri.getVerifyMode() != SslVerifyMode.NONE)));
    }

    private static Stream<String> hosts(RedisURI uri) {
        return uri.getSentinels().isEmpty()
                ? Stream.of(uri.getHost())
                : uri.getSentinels().stream().map(RedisURI::getHost);
    }

    /** Returns whether the URI has a password. A provider that has to fetch the credentials counts as one. */
    private static boolean hasPassword(RedisURI uri) {
        return !(uri.getCredentialsProvider() instanceof ImmediateRedisCredentialsProvider known)
                || known.resolveCredentialsNow().hasPassword();
    }

    /**
     * Returns a finding if a server that needs no password accepts connections from other machines; none if CONFIG is not
     * allowed.
     */
    public static CompletionStage<List<Finding>> exposure(RedisNodeClient node) {
        return setting(node, "protected-mode").thenCombine(setting(node, "bind"), RedisExposureCheck::exposure);
    }

    static List<Finding> exposure(String protectedMode, String bind) {
        boolean remote = Stream.of(bind.split(" ", -1))
                .map(address -> address.replaceFirst("^-", ""))
                .anyMatch(address -> !StoreExposureCheck.isLoopback(List.of(address)));
        return protectedMode.equals("no") && remote
                ? List.of(new Finding(
                        Severity.WARNING,
                        "the server accepts connections from other machines without a password: protected-mode is no, and bind is"
                                + " \"" + bind + "\"",
                        "set a password or users, or protected-mode yes, or bind 127.0.0.1"))
                : List.of();
    }

    private static CompletionStage<String> setting(RedisNodeClient node, String name) {
        return node.<Map<String, String>>execute("diagnosis", commands -> commands.configGet(name))
                .thenApply(settings -> settings.getOrDefault(name, ""))
                .exceptionallyCompose(forbidden -> CompletableFuture.completedFuture(""));
    }
}
