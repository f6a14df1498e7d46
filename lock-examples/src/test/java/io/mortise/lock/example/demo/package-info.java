// SPDX-License-Identifier: Apache-2.0
@NullMarked
package io.mortise.lock.example.demo;

import org.jspecify.annotations.NullMarked;
