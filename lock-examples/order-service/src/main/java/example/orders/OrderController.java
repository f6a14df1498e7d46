package example.orders;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** {@code POST /orders/book?quantity=2} orders two books, and answers with the fencing token. */
@RestController
public class OrderController {
    private final OrderService orders;

    public OrderController(OrderService orders) {
        this.orders = orders;
    }

    @PostMapping("/orders/{item}")
    public long order(@PathVariable("item") String item, @RequestParam(name = "quantity", defaultValue = "1") int quantity)
            throws InterruptedException {
        if (quantity < 1) {
            throw new ResponseStatusException(HttpStatus.BAD_REQUEST, "quantity is " + quantity + ", must be at least 1");
        }
        return orders.order(item, quantity);
    }
}
