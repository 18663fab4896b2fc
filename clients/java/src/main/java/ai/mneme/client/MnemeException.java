package ai.mneme.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.BadRequest;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** A call failed. Branch on {@link #reason} or {@link #code}, never on the message. */
public final class MnemeException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** What is wrong with one field of the request, such as "turns[3].content". */
  public record FieldViolation(String fieldPath, String description) {}

  private final Status.Code code;
  private final String method;
  private String reason = "";
  private transient Map<String, String> metadata = Map.of();
  private transient List<FieldViolation> violations = List.of();
  private Duration retryAfter;

  private MnemeException(String message, Status.Code code, List<Any> details, String method, Throwable cause) {
    super(message, cause);
    this.code = code;
    this.method = method;
    for (Any detail : details) {
      try {
        read(detail);
      } catch (InvalidProtocolBufferException error) {
        addSuppressed(error); // a detail that cannot be read is left out
      }
    }
  }

  /** Reads the error of one item of a batch or stream. */
  public static MnemeException ofItem(com.google.rpc.Status item) {
    return new MnemeException(
        item.getMessage(), Status.fromCodeValue(item.getCode()).getCode(), item.getDetailsList(), "", null);
  }

  static MnemeException of(StatusRuntimeException error, String method) {
    com.google.rpc.Status status = StatusProto.fromThrowable(error);
    List<Any> details = status == null ? List.of() : status.getDetailsList();
    String message = error.getStatus().getDescription() == null ? "no message" : error.getStatus().getDescription();
    Throwable cause = error.getStatus().getCause(); // such as "Connection refused", of which gRPC says "io exception"
    if (cause != null && cause.getMessage() != null) {
      message += ": " + cause.getMessage();
    }
    return new MnemeException(message, error.getStatus().getCode(), details, method, error);
  }

  private void read(Any detail) throws InvalidProtocolBufferException {
    if (detail.is(ErrorInfo.class)) {
      ErrorInfo info = detail.unpack(ErrorInfo.class);
      reason = info.getReason();
      metadata = Map.copyOf(info.getMetadataMap());
    } else if (detail.is(BadRequest.class)) {
      List<FieldViolation> found = new ArrayList<>();
      for (var violation : detail.unpack(BadRequest.class).getFieldViolationsList()) {
        found.add(new FieldViolation(violation.getField(), violation.getDescription()));
      }
      violations = List.copyOf(found);
    } else if (detail.is(RetryInfo.class)) {
      var delay = detail.unpack(RetryInfo.class).getRetryDelay();
      retryAfter = Duration.ofSeconds(delay.getSeconds(), delay.getNanos());
    }
  }

  /** The failure on one line: code, reason, message, fields. */
  @Override
  public String getMessage() {
    String label = reason.isEmpty() ? code.name() : code.name() + "/" + reason;
    String fields =
        violations().stream().map(v -> v.fieldPath() + ": " + v.description()).collect(Collectors.joining("; "));
    return label + ": " + super.getMessage() + (fields.isEmpty() ? "" : " (" + fields + ")");
  }

  /** The gRPC status. */
  public Status.Code code() {
    return code;
  }

  /** Of mneme.errors.v1.ErrorReason without its prefix; empty when the failure is not the service's own. */
  public String reason() {
    return reason;
  }

  /** Facts that belong to the reason, such as "limit". */
  public Map<String, String> metadata() {
    return metadata == null ? Map.of() : metadata;
  }

  /** The fields that are wrong. */
  public List<FieldViolation> violations() {
    return violations == null ? List.of() : violations;
  }

  /** When the service asks to be called again; null where it does not say. */
  public Duration retryAfter() {
    return retryAfter;
  }

  /** The RPC, such as "mneme.gateway.v1.MemoryService/Recall"; empty for an item of a batch. */
  public String method() {
    return method;
  }

  /** Whether the same call, with the same request id, may succeed when it is repeated later. */
  public boolean isRetryable() {
    return isTransient() || code == Status.Code.DEADLINE_EXCEEDED || retryAfter != null;
  }

  /** A server that cannot be reached, or that closed while the call was on its way: gRPC cancels such calls. */
  boolean isTransient() {
    return code == Status.Code.UNAVAILABLE || code == Status.Code.CANCELLED;
  }
}
