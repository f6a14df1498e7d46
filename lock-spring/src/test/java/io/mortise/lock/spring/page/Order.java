// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.page;

public record Order(String id) {
    /** For expressions: Spring's language reads properties by their getters. */
    public String getId() {
        return id;
    }
}
