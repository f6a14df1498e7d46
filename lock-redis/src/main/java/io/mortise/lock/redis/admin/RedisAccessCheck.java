// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.redis.admin;

import io.lettuce.core.RedisCredentialsProvider.ImmediateRedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslVerifyMode;
import io.mortise.lock.LockAdmin.Finding;
import io.mortise.lock.LockAdmin.Finding.Severity;
import io.mortise.lock.redis.node.RedisNode;
import io.mortise.lock.spi.support.AccessCheck;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.stream.Stream;

/** Checks who can reach the locks of Redis servers, by their URIs and by what a server tells of itself. */
public final class RedisAccessCheck {
    private RedisAccessCheck() {}

    /**
     * Returns the check of these URIs; empty if nothing is known, as of the application's own client and of Unix sockets.
     *
     * @param certificates whether TLS was set up by the application: a certificate may say who the client is
     */
    public static Optional<AccessCheck> of(String endpoints, List<RedisURI> uris, boolean certificates) {
        List<RedisURI> remote =
                uris.stream().filter(uri -> uri.getSocket() == null).toList();
        if (remote.isEmpty()) {
            return Optional.empty();
        }
        boolean encrypted = remote.stream().allMatch(RedisURI::isSsl);
        return Optional.of(new AccessCheck(
                endpoints,
                AccessCheck.isLoopback(
                        remote.stream().flatMap(RedisAccessCheck::hosts).toList()),
                remote.stream().allMatch(RedisAccessCheck::hasPassword) || (encrypted && certificates),
                remote.stream().anyMatch(RedisAccessCheck::hasPassword),
                encrypted,
                remote.stream().allMatch(uri -> !uri.isSsl() || uri.getVerifyMode() != SslVerifyMode.NONE)));
    }

    private static Stream<String> hosts(RedisURI uri) {
        return uri.getSentinels().isEmpty()
                ? Stream.of(uri.getHost())
                : uri.getSentinels().stream().map(RedisURI::getHost);
    }

    /** A provider that has to ask for it has one. */
    private static boolean hasPassword(RedisURI uri) {
        return !(uri.getCredentialsProvider() instanceof ImmediateRedisCredentialsProvider known)
                || known.resolveCredentialsNow().hasPassword();
    }

    /** Returns a finding if a server that needs no password takes connections from other machines; empty where CONFIG is not allowed. */
    public static CompletionStage<List<Finding>> exposure(RedisNode node) {
        return setting(node, "protected-mode").thenCombine(setting(node, "bind"), RedisAccessCheck::exposure);
    }

    static List<Finding> exposure(String protectedMode, String bind) {
        boolean beyond = Stream.of(bind.split(" ", -1))
                .map(address -> address.replaceFirst("^-", ""))
                .anyMatch(address -> !AccessCheck.isLoopback(List.of(address)));
        return protectedMode.equals("no") && beyond
                ? List.of(new Finding(
                        Severity.WARNING,
                        "the server takes connections from other machines without a password: protected-mode is no, and bind is \""
                                + bind + "\"",
                        "set a password or users, or protected-mode yes, or bind 127.0.0.1"))
                : List.of();
    }

    private static CompletionStage<String> setting(RedisNode node, String name) {
        return node.<Map<String, String>>ask("diagnosis", commands -> commands.configGet(name))
                .thenApply(settings -> settings.getOrDefault(name, ""))
                .exceptionallyCompose(forbidden -> CompletableFuture.completedFuture(""));
    }
}
