// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.page;

public record Order(String id) {}
