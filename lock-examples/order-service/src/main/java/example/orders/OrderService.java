package example.orders;

import io.mortise.lock.spring.CurrentLease;
import io.mortise.lock.spring.Locked;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Sells from a stock that the instances share: one order for an item at a time. */
@Service
public class OrderService {
    private final JdbcTemplate jdbc;
    private final Duration paymentTime;

    public OrderService(JdbcTemplate jdbc, @Value("${orders.payment-time}") Duration paymentTime) {
        this.jdbc = jdbc;
        this.paymentTime = paymentTime;
    }

    /**
     * Sells some of an item, and returns the fencing token of the sale.
     *
     * @throws SoldOutException if the stock has less
     */
    @Locked(name = "'stock/' + #item")
    @Transactional
    public long order(String item, int quantity) throws InterruptedException {
        long token = CurrentLease.fencingToken();
        int amount = jdbc.queryForObject("SELECT amount FROM stock WHERE item = ?", Integer.class, item);
        if (amount < quantity) {
            throw new SoldOutException(item);
        }
        pay();
        // The database refuses an instance that was paused here while another one took over and sold. If that one has only
        // read so far, both sell: the update is relative, so that no sale is lost, and none sells what is not there.
        int updated = jdbc.update(
                "UPDATE stock SET amount = amount - ?, token = ? WHERE item = ? AND token <= ? AND amount >= ?",
                quantity, token, item, token, quantity);
        if (updated == 0) {
            throw new IllegalStateException("another holder of the lock has changed the stock of " + item);
        }
        jdbc.update("INSERT INTO orders (item, quantity, token) VALUES (?, ?, ?)", item, quantity, token);
        return token;
    }

    /** Stands for the call of another service. */
    private void pay() throws InterruptedException {
        Thread.sleep(paymentTime.toMillis());
    }
}
