package ai.mneme.examples;

import ai.mneme.agentic.v1.CreateNoteRequest;
import ai.mneme.agentic.v1.NoteServiceGrpc;
import ai.mneme.agentic.v1.SearchNotesRequest;
import ai.mneme.client.MnemeClient;
import ai.mneme.client.MnemeException;
import ai.mneme.gateway.v1.BuildContextRequest;
import ai.mneme.gateway.v1.ConversationServiceGrpc;
import ai.mneme.gateway.v1.FeedbackRequest;
import ai.mneme.gateway.v1.ListConversationsRequest;
import ai.mneme.gateway.v1.ListConversationsResponse;
import ai.mneme.gateway.v1.ListInteractionsRequest;
import ai.mneme.gateway.v1.ListInteractionsResponse;
import ai.mneme.gateway.v1.MemoryServiceGrpc;
import ai.mneme.gateway.v1.RecallRequest;
import ai.mneme.gateway.v1.RecallResponse;
import ai.mneme.gateway.v1.RememberBatchRequest;
import ai.mneme.gateway.v1.RememberRequest;
import ai.mneme.gateway.v1.RememberResponse;
import ai.mneme.semantic.v1.CreateFactRequest;
import ai.mneme.semantic.v1.DeleteFactRequest;
import ai.mneme.semantic.v1.Fact;
import ai.mneme.semantic.v1.FactServiceGrpc;
import ai.mneme.semantic.v1.GetFactRequest;
import ai.mneme.semantic.v1.ListFactsRequest;
import ai.mneme.semantic.v1.ListFactsResponse;
import ai.mneme.semantic.v1.UpdateFactRequest;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.ListValue;
import com.google.protobuf.Message;
import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import com.google.protobuf.util.JsonFormat;
import io.grpc.Status;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * Makes the calls of clients/scenario.json for a user and prints a transcript.
 *
 * <p>Usage: Scenario host:port scenario.json user
 */
public final class Scenario {
  private final MnemeClient client;
  private final String user;
  private final Map<String, String> values = new HashMap<>(); // of earlier responses, by the name that stands for them

  private Scenario(MnemeClient client, String user) {
    this.client = client;
    this.user = user;
    values.put("$user", user);
  }

  public static void main(String[] arguments) throws IOException, TimeoutException {
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    var steps = ListValue.newBuilder();
    JsonFormat.parser().merge(Files.readString(Path.of(arguments[1])), steps);
    try (MnemeClient client = MnemeClient.connect(arguments[0])) {
      Scenario scenario = new Scenario(client, arguments[2]);
      for (Value step : steps.getValuesList()) {
        Struct fields = step.getStructValue();
        for (String line : scenario.lines(fields)) {
          out.println(text(fields, "call") + ": " + line);
        }
      }
    }
  }

  private List<String> lines(Struct step) throws InvalidProtocolBufferException, TimeoutException {
    try {
      return call(step);
    } catch (MnemeException error) {
      return List.of(describe(error));
    }
  }

  private List<String> call(Struct step) throws InvalidProtocolBufferException, TimeoutException {
    switch (text(step, "call")) {
      case "remember":
        return List.of(remembered(client.remember(filled(step, RememberRequest.newBuilder()).build())));
      case "rememberBatch":
        List<String> outcomes = new ArrayList<>();
        for (var result : client.rememberBatch(filled(step, RememberBatchRequest.newBuilder()).build()).getResultsList()) {
          outcomes.add(
              result.hasError() ? describe(MnemeException.ofItem(result.getError())) : remembered(result.getResponse()));
        }
        return outcomes;
      case "waitUntilVisible":
        client.waitUntilVisible(user, values.get("$token"), Duration.ofSeconds(30));
        return List.of("visible");
      case "recall":
        var request = filled(step, RecallRequest.newBuilder()).build();
        return recalled(client.call(MemoryServiceGrpc.getRecallMethod(), request, timeout(step)));
      case "recallStream":
        return recallStream(filled(step, RecallRequest.newBuilder()).build());
      case "buildContext":
        var asked = filled(step, BuildContextRequest.newBuilder()).build();
        var context = client.buildContext(asked);
        boolean isWithin = context.getTokenCount() > 0 && context.getTokenCount() <= asked.getTokenBudget();
        boolean contains = context.getText().contains(text(step, "contains"));
        return List.of("within budget " + isWithin + ", contains " + text(step, "contains") + " " + contains);
      case "listInteractions":
        var interactions = ConversationServiceGrpc.getListInteractionsMethod();
        var transcript = filled(step, ListInteractionsRequest.newBuilder()).build();
        return collect(
            client.pages(interactions, transcript, ListInteractionsResponse::getInteractionsList),
            found ->
                found.getPosition()
                    + " "
                    + found.getTurn().getRole().name().replace("MESSAGE_ROLE_", "")
                    + " "
                    + found.getTurn().getContent());
      case "listConversations":
        var conversations = ConversationServiceGrpc.getListConversationsMethod();
        var wanted = filled(step, ListConversationsRequest.newBuilder()).build();
        return collect(
            client.pages(conversations, wanted, ListConversationsResponse::getConversationsList),
            found -> found.getConversationId() + " " + found.getInteractionCount());
      case "createFact":
        var create = filled(step, CreateFactRequest.newBuilder()).build();
        Fact created = client.call(FactServiceGrpc.getCreateFactMethod(), create).getFact();
        values.put("$factId", created.getFactId());
        values.put("$etag", created.getEtag());
        return List.of(line(created));
      case "updateFact":
        var update = filled(step, UpdateFactRequest.newBuilder()).build();
        return List.of(line(client.call(FactServiceGrpc.getUpdateFactMethod(), update).getFact()));
      case "getFact":
        var get = filled(step, GetFactRequest.newBuilder()).build();
        return List.of(line(client.call(FactServiceGrpc.getGetFactMethod(), get).getFact()));
      case "listFacts":
        var list = filled(step, ListFactsRequest.newBuilder()).build();
        return collect(
            client.pages(FactServiceGrpc.getListFactsMethod(), list, ListFactsResponse::getFactsList), Scenario::line);
      case "deleteFact":
        client.call(FactServiceGrpc.getDeleteFactMethod(), filled(step, DeleteFactRequest.newBuilder()).build());
        return List.of("done");
      case "createNote":
        var newNote = filled(step, CreateNoteRequest.newBuilder()).build();
        var note = client.call(NoteServiceGrpc.getCreateNoteMethod(), newNote).getNote();
        return List.of(note.getContent() + " " + String.join(" ", note.getTagsList()));
      case "searchNotes":
        var search = filled(step, SearchNotesRequest.newBuilder()).build();
        var hits = client.call(NoteServiceGrpc.getSearchNotesMethod(), search).getHitsList();
        return collect(hits, hit -> hit.getNote().getContent());
      case "feedback":
        return List.of(client.feedback(filled(step, FeedbackRequest.newBuilder()).build()).getMemoryCount() + " memories");
      default:
        throw new IllegalArgumentException("unknown call " + text(step, "call"));
    }
  }

  private List<String> recallStream(RecallRequest request) {
    var tiers = new TreeSet<String>();
    List<String> whole = List.of();
    try (var parts = client.recallStream(request)) {
      while (parts.hasNext()) {
        var part = parts.next();
        if (part.hasResponse()) {
          whole = recalled(part.getResponse());
        } else {
          tiers.add(part.getTierResult().getTier().getTier().name().replace("TIER_", ""));
        }
      }
    }
    List<String> lines = new ArrayList<>(List.of(String.join(" ", tiers)));
    lines.addAll(whole);
    return lines;
  }

  private String remembered(RememberResponse response) {
    if (!response.getConsistencyToken().isEmpty()) {
      values.put("$token", response.getConsistencyToken());
    }
    return response.getInteractionsCount() + " turns, replayed " + response.getReplayed();
  }

  private List<String> recalled(RecallResponse response) {
    List<String> lines = new ArrayList<>(List.of("degraded " + response.getDegraded()));
    for (var memory : response.getMemoriesList()) {
      values.put("$memoryId", memory.getMemoryId());
      lines.add(memory.getTurn().getSpeaker() + ": " + memory.getTurn().getContent());
    }
    return lines;
  }

  /** Reads the request of a step, with the values of earlier responses. */
  private <B extends Message.Builder> B filled(Struct step, B request) throws InvalidProtocolBufferException {
    String json = JsonFormat.printer().print(step.getFieldsOrThrow("with"));
    for (var value : values.entrySet()) {
      json = json.replace(value.getKey(), value.getValue());
    }
    JsonFormat.parser().merge(json, request);
    return request;
  }

  private static Duration timeout(Struct step) {
    double seconds = step.getFieldsOrDefault("timeoutSeconds", Value.newBuilder().setNumberValue(30).build()).getNumberValue();
    return Duration.ofNanos((long) (seconds * 1e9));
  }

  private static String text(Struct step, String field) {
    return step.getFieldsOrDefault(field, Value.getDefaultInstance()).getStringValue();
  }

  private static <T> List<String> collect(Iterable<T> items, Function<T, String> line) {
    List<String> lines = new ArrayList<>();
    items.forEach(item -> lines.add(line.apply(item)));
    return lines;
  }

  private static String line(Fact fact) {
    return fact.getText() + " (" + fact.getSubject() + " " + fact.getPredicate() + " " + fact.getObject() + ")";
  }

  /** Leaves out the reason of a deadline: whether the service or the client notices it first is chance. */
  private static String describe(MnemeException error) {
    List<String> words = new ArrayList<>(List.of("error", error.code().name()));
    if (error.code() != Status.Code.DEADLINE_EXCEEDED) {
      words.add(error.reason());
      error.violations().forEach(violation -> words.add(violation.fieldPath()));
    }
    return String.join(" ", words);
  }
}
