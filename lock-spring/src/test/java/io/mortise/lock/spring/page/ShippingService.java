// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.page;

import io.mortise.lock.spring.CurrentLease;
import io.mortise.lock.spring.Locked;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

@Service
public class ShippingService {
    private final JdbcTemplate jdbc;

    public ShippingService(JdbcTemplate jdbc) {
        this.jdbc = jdbc;
    }

    @Locked(name = "'order/' + #order.id", maxWait = "2s")
    @Transactional
    public int ship(Order order) {
        long token = CurrentLease.fencingToken();
        return jdbc.update(
                "UPDATE orders SET state = 'SHIPPED', token = ? WHERE id = ? AND token <= ?", token, order.id(), token);
    }
}
