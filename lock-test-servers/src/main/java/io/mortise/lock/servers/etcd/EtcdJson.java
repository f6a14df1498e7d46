// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.servers.etcd;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** Encodes and decodes values in etcd's JSON, where 64-bit numbers are strings and bytes are Base64. */
final class EtcdJson {
    private EtcdJson() {}

    static String base64(String text) {
        return base64(text.getBytes(StandardCharsets.UTF_8));
    }

    static String base64(byte[] bytes) {
        return Base64.getEncoder().encodeToString(bytes);
    }

    /** Returns the end of the range of all keys with the prefix, in Base64; the empty prefix means all keys. */
    static String prefixEnd(String prefix) {
        byte[] end = prefix.isEmpty() ? new byte[1] : prefix.getBytes(StandardCharsets.UTF_8);
        if (!prefix.isEmpty()) {
            end[end.length - 1]++; // does not overflow: UTF-8 has no byte 0xFF
        }
        return base64(end);
    }

    static String text(Map<?, ?> json, String field) {
        Object value = json.get(field);
        return value == null ? "" : new String(Base64.getDecoder().decode((String) value), StandardCharsets.UTF_8);
    }

    static long number(Map<?, ?> json, String field) {
        Object value = json.get(field);
        if (value == null) {
            return 0;
        }
        String text = value.toString();
        return text.startsWith("-") ? Long.parseLong(text) : Long.parseUnsignedLong(text);
    }

    static Map<?, ?> map(Map<?, ?> json, String field) {
        return json.get(field) instanceof Map<?, ?> map ? map : Map.of();
    }

    static List<Map<?, ?>> list(Map<?, ?> json, String field) {
        List<?> list = json.get(field) instanceof List<?> elements ? elements : List.of();
        return list.stream().<Map<?, ?>>map(element -> (Map<?, ?>) element).toList();
    }
}
