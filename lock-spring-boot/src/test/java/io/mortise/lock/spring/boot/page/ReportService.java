// SPDX-License-Identifier: Apache-2.0
package io.mortise.lock.spring.boot.page;

import io.mortise.lock.spring.CurrentLease;
import io.mortise.lock.spring.Locked;
import org.springframework.stereotype.Service;

@Service
public class ReportService {
    private long written;

    @Locked(name = "'report/' + #customer", maxWait = "2s")
    public long write(String customer) {
        written = CurrentLease.fencingToken();
        return written;
    }
}
