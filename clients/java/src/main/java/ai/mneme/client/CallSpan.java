package ai.mneme.client;

import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.opentelemetry.api.OpenTelemetry;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.context.Context;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The span of a call under way, by OpenTelemetry's GenAI conventions for memory where it is an operation on memories. */
final class CallSpan {
  /** What the spans of one client have in common. */
  record Tracing(OpenTelemetry telemetry, String host, int port, boolean capturesContent) {}

  private static final Map<String, String> OPERATIONS =
      Map.ofEntries(
          Map.entry("Remember", "upsert_memory"),
          Map.entry("RememberBatch", "upsert_memory"),
          Map.entry("RememberStream", "upsert_memory"),
          Map.entry("Recall", "search_memory"),
          Map.entry("RecallStream", "search_memory"),
          Map.entry("BuildContext", "search_memory"),
          Map.entry("SearchEpisodes", "search_memory"),
          Map.entry("SearchFacts", "search_memory"),
          Map.entry("SearchNotes", "search_memory"),
          Map.entry("CreateFact", "create_memory"),
          Map.entry("CreateNote", "create_memory"),
          Map.entry("UpdateFact", "update_memory"),
          Map.entry("UpdateNote", "update_memory"),
          Map.entry("DeleteFact", "delete_memory"),
          Map.entry("DeleteNote", "delete_memory"),
          Map.entry("Erase", "delete_memory"),
          Map.entry("Forget", "delete_memory"),
          Map.entry("Correct", "update_memory"));
  private static final List<String> LISTS =
      List.of("interactions", "memories", "reasons", "facts", "notes", "hits");

  private final Span span;
  private final String operation;
  private final Message request; // null: the call has a stream of them
  private final Metadata headers = new Metadata();
  private long count;

  CallSpan(Tracing tracing, MethodDescriptor<?, ?> method, Object request) {
    String rpc = method.getBareMethodName();
    this.operation = OPERATIONS.get(rpc);
    this.request = (Message) request;
    SpanBuilder builder =
        tracing.telemetry().getTracer("ai.mneme.client")
            .spanBuilder(operation == null ? method.getFullMethodName() : operation)
            .setSpanKind(SpanKind.CLIENT)
            .setAttribute("rpc.system", "grpc")
            .setAttribute("rpc.service", method.getServiceName())
            .setAttribute("rpc.method", rpc)
            .setAttribute("server.address", tracing.host());
    if (tracing.port() > 0) {
      builder.setAttribute("server.port", tracing.port());
    }
    if (operation != null) {
      describeMemory(builder, tracing.capturesContent());
    }
    span = builder.startSpan();
    tracing.telemetry().getPropagators().getTextMapPropagator()
        .inject(
            Context.current().with(span),
            headers,
            (carrier, key, value) -> carrier.put(Metadata.Key.of(key, Metadata.ASCII_STRING_MARSHALLER), value));
  }

  /** Metadata that carries the trace to the service. */
  Metadata headers() {
    return headers;
  }

  private void describeMemory(SpanBuilder builder, boolean capturesContent) {
    builder.setAttribute("gen_ai.operation.name", operation).setAttribute("gen_ai.provider.name", "mneme");
    if (request == null) {
      return;
    }
    FieldDescriptor wrapped = request.getDescriptorForType().findFieldByName("recall");
    Message asked = wrapped == null ? request : (Message) request.getField(wrapped); // RecallStream wraps what Recall is asked
    set(builder, "gen_ai.memory.store.id", storeId(asked));
    set(builder, "gen_ai.memory.record.id", text(asked, "fact_id") + text(asked, "note_id"));
    set(builder, "gen_ai.conversation.id", text(asked, "conversation_id"));
    set(builder, "gen_ai.memory.query.text", capturesContent ? text(asked, "query") : "");
  }

  /** Counts the memories of a response; those of a stream come one after the other. */
  void responded(Object response) {
    if (operation == null || !span.isRecording()) {
      return;
    }
    if (operation.equals("delete_memory")) {
      count += text(request, "fact_id").isEmpty() && text(request, "note_id").isEmpty() ? 0 : 1;
    } else {
      count += records((Message) response);
    }
    span.setAttribute("gen_ai.memory.record.count", count);
  }

  /** Ends the span; a second time it has no effect. */
  void end(MnemeException error) {
    span.setAttribute("rpc.grpc.status_code", error == null ? 0 : error.code().value());
    if (error != null) {
      span.setAttribute("error.type", error.code().name());
      span.recordException(error);
      span.setStatus(StatusCode.ERROR, error.getMessage());
    }
    span.end();
  }

  private static void set(SpanBuilder builder, String name, String value) {
    if (!value.isEmpty()) {
      builder.setAttribute(name, value);
    }
  }

  /** The user whose memory is called, where it is one. */
  private static String storeId(Message asked) {
    FieldDescriptor items = asked.getDescriptorForType().findFieldByName("items");
    if (items == null) {
      return text(asked, "user_id");
    }
    Set<String> users = new HashSet<>();
    for (int i = 0; i < asked.getRepeatedFieldCount(items); i++) {
      users.add(text((Message) asked.getRepeatedField(items, i), "user_id"));
    }
    return users.size() == 1 ? users.iterator().next() : "";
  }

  private static long records(Message response) {
    var type = response.getDescriptorForType();
    FieldDescriptor whole = type.findFieldByName("response");
    if (whole != null) {
      return records((Message) response.getField(whole));
    }
    long found = 0;
    FieldDescriptor results = type.findFieldByName("results");
    for (int i = 0; results != null && i < response.getRepeatedFieldCount(results); i++) {
      found += records((Message) response.getRepeatedField(results, i));
    }
    for (String name : LISTS) {
      FieldDescriptor list = type.findFieldByName(name);
      found += list != null && list.isRepeated() ? response.getRepeatedFieldCount(list) : 0;
    }
    for (String name : List.of("fact", "note")) {
      FieldDescriptor one = type.findFieldByName(name);
      found += one != null && response.hasField(one) ? 1 : 0;
    }
    return found;
  }

  private static String text(Message message, String name) {
    FieldDescriptor field = message.getDescriptorForType().findFieldByName(name);
    boolean isText = field != null && !field.isRepeated() && field.getJavaType() == FieldDescriptor.JavaType.STRING;
    return isText ? (String) message.getField(field) : "";
  }
}
