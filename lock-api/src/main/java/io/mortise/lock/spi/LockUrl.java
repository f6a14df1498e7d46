// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spi;

import io.mortise.lock.LockConfigurationException;
import io.mortise.lock.internal.TextEscaper;
import io.mortise.lock.spi.support.DurationParser;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A parsed connection URL, from which a client is opened.
 *
 * <p>Its form is {@code scheme://[user[:password]@]host[:port],…/path?name=value&…} or {@code scheme:path}. All parts are
 * percent-decoded. {@link java.net.URI} does not support a list of hosts, so this class has its own parser. No error message
 * and no string form contains a secret (S19). Immutable and thread-safe.
 */
public final class LockUrl {
    private static final Pattern SHAPE = Pattern.compile(
            "(?<scheme>[A-Za-z][A-Za-z0-9+.-]*):(//(?<authority>[^/?#]*))?(?<path>[^?#]*)(\\?(?<query>[^#]*))?");
    private static final Pattern START =
            Pattern.compile("(?s)(?<scheme>[A-Za-z][A-Za-z0-9+.-]*:)(//(?<authority>[^/?#]*))?(?<rest>.*)");
    private static final Pattern SECRET = Pattern.compile("(?is).*(pass|pwd|secret|auth|token|credential|key).*");
    /** A host that may be shown. Anything else in its position is likely a password without the @ after it. */
    private static final Pattern PRINTABLE_HOST =
            Pattern.compile("([\\p{L}\\p{N}._-]+(:\\d{0,5})?|\\[[\\p{Alnum}:.%]+](:\\d{0,5})?|)");

    private static final Pattern UNPRINTABLE = Pattern.compile("[\\p{Cc}\\p{Cf}\\u2028\\u2029]");

    private final String scheme;
    private final @Nullable String userInfo;
    private final @Nullable String hosts;
    private final String path;
    private final Map<String, String> parameters;

    private LockUrl(
            String scheme,
            @Nullable String userInfo,
            @Nullable String hosts,
            String path,
            Map<String, String> parameters) {
        this.scheme = scheme;
        this.userInfo = userInfo;
        this.hosts = hosts;
        this.path = path;
        this.parameters = parameters;
    }

    /**
     * Parses a URL.
     *
     * @throws LockConfigurationException if the text does not have the form that {@link LockUrl} describes
     */
    public static LockUrl parse(String url) {
        Matcher matcher = SHAPE.matcher(url);
        if (!matcher.matches()) {
            throw new LockConfigurationException("\"" + redact(url)
                    + "\" is not a lock URL: expected scheme://host:port/path?name=value or scheme:name, such as"
                    + " redis://localhost:6379 or memory:test");
        }
        String authority = matcher.group("authority");
        int at = authority == null ? -1 : authority.lastIndexOf('@');
        String query = matcher.group("query");
        String path = matcher.group("path");
        boolean atInPath = path.contains("@") && (authority != null || path.contains(":"));
        if (atInPath || (query != null && query.contains("@"))) {
            // Most likely a password that contains / or ?, which must not become part of a path that is shown.
            throw new LockConfigurationException("\"" + redact(url)
                    + "\" has an @ after its hosts: write / as %2F and ? as %3F in a password, and @ as %40 elsewhere");
        }
        return new LockUrl(
                matcher.group("scheme").toLowerCase(Locale.ROOT),
                at < 0 ? null : authority.substring(0, at),
                authority == null ? null : authority.substring(at + 1),
                decode(matcher.group("path"), url),
                parameters(query, url));
    }

    private static Map<String, String> parameters(@Nullable String query, String url) {
        Map<String, String> parameters = new LinkedHashMap<>();
        if (query != null && !query.isEmpty()) {
            for (String pair : query.split("&", -1)) {
                int equals = pair.indexOf('=');
                if (equals <= 0) {
                    throw new LockConfigurationException(
                            "\"" + redact(url) + "\" has a parameter without name or value");
                }
                String name = decode(pair.substring(0, equals), url);
                if (UNPRINTABLE.matcher(name).find()) {
                    throw new LockConfigurationException(
                            "\"" + redact(url) + "\" has a control character in the name of a parameter");
                }
                if (parameters.put(name, decode(pair.substring(equals + 1), url)) != null) {
                    throw new LockConfigurationException(
                            "\"" + redact(url) + "\" has parameter \"" + name + "\" twice");
                }
            }
        }
        return parameters;
    }

    private static String decode(String text, String url) {
        try {
            return TextEscaper.unescape(text);
        } catch (IllegalArgumentException e) {
            throw new LockConfigurationException(
                    "\"" + redact(url) + "\" has a malformed percent escape, write % itself as %25");
        }
    }

    /** Returns the text without anything that may be a secret, also if it is not a valid URL. */
    private static String redact(String url) {
        Matcher start = START.matcher(url);
        if (!start.matches()) {
            return visible(url.replaceFirst("(?s)[:@?#/=].*", "…"));
        }
        String authority = start.group("authority");
        String rest = start.group("rest");
        boolean suspicious = rest.contains("@") || rest.contains("#") || (authority == null && rest.contains(":"));
        String shown = authority == null ? "" : "//" + (suspicious ? "***@" : printable(authority));
        return visible(start.group("scheme") + shown + (suspicious ? "…" : rest.replaceFirst("(?s)\\?.*", "?…")));
    }

    /** Returns the hosts; user and password are hidden, and so is anything that cannot be a host. */
    private static String printable(String authority) {
        int at = authority.lastIndexOf('@');
        StringBuilder out = new StringBuilder(at < 0 ? "" : "***@"); // a user without password may be a password
        String separator = "";
        for (String host : authority.substring(at + 1).split(",", -1)) {
            out.append(separator).append(printableHost(host));
            separator = ",";
        }
        return out.toString();
    }

    private static String printableHost(String host) {
        return PRINTABLE_HOST.matcher(host).matches()
                ? host
                : host.replaceFirst("(?s)^([\\p{L}\\p{N}._-]+:)?.*", "$1***");
    }

    /** Returns the text in one line, with control and format characters escaped. */
    private static String visible(String text) {
        return UNPRINTABLE
                .matcher(text)
                .replaceAll(
                        found -> String.format("\\\\u%04x", (int) found.group().charAt(0)));
    }

    /** Returns the scheme, in lower case. */
    public String scheme() {
        return scheme;
    }

    /** Returns the user: the part before the first {@code :} and the {@code @}. Empty if the URL has none. */
    public Optional<String> user() {
        return Optional.ofNullable(userInfo)
                .map(info -> decode(info.split(":", 2)[0], toString()))
                .filter(user -> !user.isEmpty());
    }

    /** Returns the password: the part between the first {@code :} and the {@code @}. Empty if the URL has none. */
    public Optional<String> password() {
        return Optional.ofNullable(userInfo)
                .filter(info -> info.contains(":"))
                .map(info -> decode(info.split(":", 2)[1], toString()));
    }

    /**
     * Returns the hosts with their ports, in the order of the URL.
     *
     * @param defaultPort the port of hosts without one
     * @throws LockConfigurationException if there is no host, or a port is not from 1 to 65535
     */
    public List<Endpoint> endpoints(int defaultPort) {
        List<Endpoint> endpoints = new ArrayList<>();
        for (String host : hosts == null ? new String[0] : hosts.split(",", -1)) {
            int colon = host.endsWith("]") ? -1 : host.lastIndexOf(':');
            String name = colon < 0 ? host : host.substring(0, colon);
            if (name.isEmpty() || (name.contains(":") && !(name.startsWith("[") && name.endsWith("]")))) {
                throw new LockConfigurationException("\"" + this + "\" has no host in \"" + printableHost(host)
                        + "\": expected host or host:port, IPv6 in brackets");
            }
            endpoints.add(new Endpoint(name, colon < 0 ? defaultPort : port(host.substring(colon + 1))));
        }
        if (endpoints.isEmpty()) {
            String shown = path.contains(":") || path.contains("@") ? scheme + ":…" : toString();
            throw new LockConfigurationException(
                    "\"" + shown + "\" names no host: expected " + scheme + "://host:port");
        }
        return endpoints;
    }

    private int port(String text) {
        if (text.matches("\\d{1,5}")) {
            int port = Integer.parseInt(text);
            if (port >= 1 && port <= 65_535) {
                return port;
            }
        }
        throw new LockConfigurationException("\"" + this + "\" has port \"" + (text.matches("\\d{0,5}") ? text : "***")
                + "\", must be from 1 to 65535");
    }

    /**
     * Returns the path, which may be empty: the part after the hosts, with its leading slash, or the part after the scheme's
     * colon if the URL has no hosts.
     */
    public String path() {
        return path;
    }

    /** Returns the names of all parameters, in the order of the URL. */
    public Set<String> parameterNames() {
        return parameters.keySet();
    }

    /** Returns the text of a parameter; empty if the URL does not have it. */
    public Optional<String> text(String name) {
        return Optional.ofNullable(parameters.get(name));
    }

    /**
     * Returns a parameter as a duration; empty if the URL does not have it.
     *
     * @throws LockConfigurationException if {@link DurationParser} rejects the text
     */
    public Optional<Duration> duration(String name) {
        return text(name).map(value -> {
            try {
                return DurationParser.parse(value);
            } catch (IllegalArgumentException e) {
                throw invalid(name, value, String.valueOf(e.getMessage()));
            }
        });
    }

    /**
     * Returns a parameter as a whole number; empty if the URL does not have it.
     *
     * @param least the smallest valid number
     * @param most the largest valid number
     * @throws LockConfigurationException if the text is not a whole number within these limits
     */
    public OptionalInt integer(String name, int least, int most) {
        String value = parameters.get(name);
        if (value == null) {
            return OptionalInt.empty();
        }
        try {
            int number = Integer.parseInt(value);
            if (number >= least && number <= most) {
                return OptionalInt.of(number);
            }
        } catch (NumberFormatException e) {
            // reported below, with the same message
        }
        throw invalid(name, value, "a whole number from " + least + " to " + most);
    }

    /**
     * Returns a parameter as a boolean; empty if the URL does not have it.
     *
     * @throws LockConfigurationException if the text is neither {@code true} nor {@code false}
     */
    public Optional<Boolean> flag(String name) {
        return text(name).map(value -> switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw invalid(name, value, "true or false");
        });
    }

    private LockConfigurationException invalid(String name, String value, String expected) {
        return new LockConfigurationException("URL parameter " + name + "="
                + (SECRET.matcher(name).matches() ? "***" : visible(value)) + " must be " + expected);
    }

    /** Returns the URL without user, password and other secrets. */
    @Override
    public String toString() {
        StringBuilder out = new StringBuilder(scheme).append(':');
        if (hosts != null) {
            out.append("//").append(userInfo == null ? "" : "***@").append(printable(hosts));
        }
        int at = hosts == null ? path.lastIndexOf('@') : -1; // if the slashes are missing, a password precedes the @
        out.append(at < 0 ? "" : "***").append(path.substring(Math.max(at, 0)));
        char separator = '?';
        for (Map.Entry<String, String> parameter : parameters.entrySet()) {
            boolean secret = SECRET.matcher(parameter.getKey()).matches();
            out.append(separator).append(parameter.getKey()).append('=').append(secret ? "***" : parameter.getValue());
            separator = '&';
        }
        return visible(out.toString());
    }

    /** A host with its port; IPv6 addresses keep their brackets. */
    public record Endpoint(String host, int port) {
        @Override
        public String toString() {
            return host + ":" + port;
        }
    }
}
