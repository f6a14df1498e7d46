// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi.support;

import io.mortise.lock.LockConfigurationException;
import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Detects failures that are caused by incompatible libraries on the class path. Such a failure is permanent, so callers do
 * not retry (S15).
 */
public final class LinkageErrorCheck {
    /** Matches the first two parts of a class name: {@code io/netty/channel/Channel} or {@code io.netty.channel.Channel}. */
    private static final Pattern LIBRARY = Pattern.compile("\\b([a-z]\\w*)[./]([a-z]\\w*)[./]\\w");

    private static final Pattern JAR = Pattern.compile("[^/!]+\\.jar(?=!|$)");

    private static final Set<String> PLATFORM = Set.of("java", "javax", "jdk", "sun");

    private LinkageErrorCheck() {}

    /**
     * Searches the chain of causes for a {@link LinkageError}.
     *
     * @param failure the failure, whose causes are searched too
     * @param what the operation that failed, for the message
     * @return the exception to throw, which names the jars of the libraries involved; empty if there is no such error
     */
    public static Optional<LockConfigurationException> find(Throwable failure, String what) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof LinkageError error) {
                return Optional.of(of(error, what));
            }
        }
        return Optional.empty();
    }

    /**
     * Returns the exception to throw for a linkage error; it names the jars of the libraries involved.
     *
     * @param what the operation that failed, for the message
     */
    public static LockConfigurationException of(LinkageError error, String what) {
        String why = error.getCause() == null ? "" : " (" + error.getCause() + ")";
        return new LockConfigurationException(
                what + " failed: the libraries on the class path do not fit together: " + error + why + ". Found: "
                        + found(error) + ". Use one version of each library",
                error);
    }

    private static String found(LinkageError error) {
        Set<String> libraries = new LinkedHashSet<>();
        addLibraries(String.valueOf(error.getMessage()), libraries);
        if (error.getStackTrace().length > 0) {
            addLibraries(error.getStackTrace()[0].getClassName(), libraries);
        }
        Set<String> jars = new TreeSet<>();
        libraries.forEach(library -> addJars(library, jars));
        return jars.isEmpty() ? "no jar of " + libraries : String.join(", ", jars);
    }

    private static void addLibraries(String text, Set<String> libraries) {
        Matcher name = LIBRARY.matcher(text);
        while (name.find()) {
            if (!PLATFORM.contains(name.group(1))) {
                libraries.add(name.group(1) + "/" + name.group(2) + "/");
            }
        }
    }

    private static void addJars(String library, Set<String> jars) {
        try {
            ClassLoader loader = Optional.ofNullable(Thread.currentThread().getContextClassLoader())
                    .orElse(LinkageErrorCheck.class.getClassLoader());
            jars.addAll(Collections.list(loader.getResources(library)).stream()
                    .map(LinkageErrorCheck::jar)
                    .collect(Collectors.toSet()));
        } catch (IOException e) {
            jars.add(library + ": " + e.getMessage());
        }
    }

    /** Returns the name of the innermost jar, which contains the version; for anything else, the whole URL. */
    private static String jar(URL url) {
        String text = url.toString();
        Matcher jar = JAR.matcher(text);
        String last = text;
        while (jar.find()) {
            last = jar.group();
        }
        return last;
    }
}
