package example.orders;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.ResponseStatus;

/** Thrown if the stock has less than an order wants. */
@ResponseStatus(HttpStatus.CONFLICT)
public class SoldOutException extends RuntimeException {
    public SoldOutException(String item) {
        super(item + " is sold out");
    }
}
