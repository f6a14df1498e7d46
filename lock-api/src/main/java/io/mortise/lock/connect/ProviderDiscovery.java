// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.connect;

import io.mortise.lock.BackendUnavailableException;
import io.mortise.lock.Capability;
import io.mortise.lock.ClientOptions;
import io.mortise.lock.LockClient;
import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.core.client.CoreClient;
import io.mortise.lock.spi.LockProvider;
import io.mortise.lock.spi.LockUrl;
import java.security.CodeSource;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.ServiceConfigurationError;
import java.util.ServiceLoader;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Finds the provider for the scheme of a URL. If there is none, the exception names the artifact to add. */
final class ProviderDiscovery {
    /** The URL parameter that selects one of several providers for the same scheme. */
    private static final String PROVIDER = "provider";

    private static final Map<String, Set<String>> SCHEMES = Map.of(
            "lock-memory", Set.of("memory"),
            "lock-zookeeper", Set.of("zookeeper"),
            "lock-redis",
                    Set.of(
                            "redis",
                            "rediss",
                            "redis-socket",
                            "redis-sentinel",
                            "rediss-sentinel",
                            "redis-cluster",
                            "rediss-cluster"),
            "lock-redlock", Set.of("redlock", "redlocks"),
            "lock-etcd", Set.of("etcd", "etcds"));

    /** Schemes of other tools for the same stores, and the scheme to use instead. */
    private static final Map<String, String> ALIASES = Map.of(
            "zk", "zookeeper",
            "http", "etcd",
            "https", "etcds",
            "valkey", "redis",
            "valkeys", "rediss",
            "unix", "redis-socket",
            "redis+socket", "redis-socket",
            "redis+sentinel", "redis-sentinel",
            "sentinel", "redis-sentinel");

    /** The schemes of stores that listen at a well-known port. */
    private static final Map<String, String> SCHEME_BY_PORT =
            Map.of("2181", "zookeeper", "2379", "etcd", "26379", "redis-sentinel");

    /** Matches the text after the colon of a host without a scheme: a port, and maybe a path or more hosts. */
    private static final Pattern PORT = Pattern.compile("(\\d{1,5})([/,].*)?");

    private ProviderDiscovery() {}

    /** Implements {@link Locks#connect}. */
    static LockClient connect(String text, ClientOptions options, Collection<Capability> required) {
        Set<String> broken = new LinkedHashSet<>();
        return connect(text, options, required, providers(broken), broken);
    }

    static LockClient connect(
            String text,
            ClientOptions options,
            Collection<Capability> required,
            List<LockProvider> providers,
            Set<String> broken) {
        LockUrl url = LockUrl.parse(text);
        LockProvider provider = choose(url, providers, broken);
        for (String parameter : url.parameterNames()) {
            if (!provider.parameters().contains(parameter) && !parameter.equals(PROVIDER)) {
                throw new LockConfigurationException("unknown URL parameter \"" + parameter + "\": " + url.scheme()
                        + " takes " + new TreeSet<>(provider.parameters()));
            }
        }
        LockClient client = open(url, provider, options);
        Set<Capability> missing = EnumSet.noneOf(Capability.class);
        missing.addAll(required);
        missing.removeAll(client.capabilities());
        if (!missing.isEmpty()) {
            client.close();
            throw new LockConfigurationException(url.scheme() + " does not have " + missing + ", it has "
                    + new TreeSet<>(client.capabilities()) + "; choose a backend that has it, or do not require it");
        }
        return client;
    }

    private static LockClient open(LockUrl url, LockProvider provider, ClientOptions options) {
        try {
            return CoreClient.open(context -> provider.open(url, context), options);
        } catch (BackendUnavailableException e) {
            throw e.withEndpoints(url.toString());
        }
    }

    /** Implements {@link Locks#providers}. */
    static List<Locks.ProviderInfo> found() {
        return providers(new LinkedHashSet<>()).stream()
                .flatMap(provider -> provider.schemes().stream()
                        .map(scheme -> new Locks.ProviderInfo(
                                scheme, provider.getClass().getName())))
                .sorted(Comparator.comparing(Locks.ProviderInfo::scheme)
                        .thenComparing(Locks.ProviderInfo::providerClass))
                .toList();
    }

    private static LockProvider choose(LockUrl url, List<LockProvider> providers, Set<String> broken) {
        String skipped = broken.isEmpty() ? "" : "; could not be loaded: " + broken;
        List<LockProvider> claiming = providers.stream()
                .filter(provider -> provider.schemes().contains(url.scheme()))
                .toList();
        if (claiming.isEmpty()) {
            String remedy = SCHEMES.entrySet().stream()
                    .filter(artifact -> artifact.getValue().contains(url.scheme()))
                    .findFirst()
                    .map(artifact -> ": add io.mortise:" + artifact.getKey() + " to the class path")
                    .orElseGet(() -> suggestion(url));
            Set<String> known = new TreeSet<>();
            providers.forEach(provider -> known.addAll(provider.schemes()));
            throw new LockConfigurationException(
                    "no provider for scheme \"" + url.scheme() + "\"" + remedy + "; found " + known + skipped);
        }
        String wanted = url.text(PROVIDER).orElse(null);
        List<LockProvider> chosen = wanted == null
                ? claiming
                : claiming.stream()
                        .filter(provider -> provider.getClass().getName().equals(wanted))
                        .toList();
        if (chosen.isEmpty()) {
            throw new LockConfigurationException("URL parameter provider=" + printable(wanted)
                    + " names no provider of scheme \"" + url.scheme() + "\": found " + found(claiming) + skipped);
        }
        if (chosen.size() > 1) {
            throw new LockConfigurationException("scheme \"" + url.scheme() + "\" has " + chosen.size()
                    + " providers, choose one by ?provider=CLASS or remove one: " + found(chosen));
        }
        return chosen.get(0);
    }

    /** Returns what to write instead of a scheme that no Mortise backend has. */
    private static String suggestion(LockUrl url) {
        Matcher port = PORT.matcher(url.path());
        if (port.matches()) {
            return ": a URL begins with a scheme, did you mean "
                    + SCHEME_BY_PORT.getOrDefault(port.group(1), "redis") + "://" + url.scheme() + ":" + port.group(1)
                    + (port.group(2) == null ? "" : "…") + "?";
        }
        return Optional.ofNullable(ALIASES.get(url.scheme()))
                .or(() -> nearest(url.scheme()))
                .map(known -> ": did you mean " + known + "?")
                .orElse(": use a scheme that was found, or add another backend to the class path");
    }

    /** Returns the known scheme that differs least, if it differs in one or two characters. */
    private static Optional<String> nearest(String scheme) {
        return SCHEMES.values().stream()
                .flatMap(Set::stream)
                .filter(known -> distance(scheme, known) <= Math.min(2, known.length() / 3))
                .min(Comparator.<String>comparingInt(known -> distance(scheme, known))
                        .thenComparing(Comparator.naturalOrder()));
    }

    /** Returns the Levenshtein distance of two strings. */
    private static int distance(String one, String other) {
        int[] row = IntStream.rangeClosed(0, other.length()).toArray();
        for (int i = 1; i <= one.length(); i++) {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= other.length(); j++) {
                int change = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.min(change, Math.min(row[j], row[j - 1]) + 1);
            }
        }
        return row[other.length()];
    }

    private static List<String> found(List<LockProvider> providers) {
        return providers.stream()
                .map(provider -> provider.getClass().getName() + " for " + new TreeSet<>(provider.schemes()) + " from "
                        + origin(provider.getClass()))
                .toList();
    }

    private static String origin(Class<?> type) {
        CodeSource source = type.getProtectionDomain().getCodeSource();
        return source == null || source.getLocation() == null
                ? "an unknown location"
                : source.getLocation().toString();
    }

    private static @Nullable String printable(@Nullable String text) {
        return text == null ? null : text.replaceAll("\\p{Cntrl}", "?");
    }

    /** Loads the providers from the context class loader and from ours, since containers may hide one from the other. */
    private static List<LockProvider> providers(Set<String> broken) {
        Map<Class<?>, LockProvider> found = new LinkedHashMap<>();
        load(Thread.currentThread().getContextClassLoader(), found, broken);
        load(LockProvider.class.getClassLoader(), found, broken);
        return List.copyOf(found.values());
    }

    /** Skips providers that cannot be loaded, such as one that implements another class loader's copy of the SPI. */
    private static void load(@Nullable ClassLoader loader, Map<Class<?>, LockProvider> found, Set<String> broken) {
        Iterator<LockProvider> providers =
                ServiceLoader.load(LockProvider.class, loader).iterator();
        Set<String> seen = new HashSet<>();
        while (true) {
            try {
                if (!providers.hasNext()) {
                    return;
                }
                LockProvider provider = providers.next();
                found.putIfAbsent(provider.getClass(), provider);
            } catch (ServiceConfigurationError | LinkageError e) {
                broken.add(e.getMessage() + (e.getCause() == null ? "" : " (" + e.getCause() + ")"));
                if (!seen.add(e.toString())) {
                    return; // the iterator repeats the same failure and does not proceed
                }
            }
        }
    }
}
