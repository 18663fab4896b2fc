package mneme

import (
	"context"
	"net"
	"os"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

const captureVariable = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"

// operations are those of OpenTelemetry's GenAI conventions for memory, by the name of the RPC. Other calls have spans by
// the conventions for RPC alone.
var operations = map[string]string{
	"Remember":       "upsert_memory",
	"RememberBatch":  "upsert_memory",
	"RememberStream": "upsert_memory",
	"Recall":         "search_memory",
	"RecallStream":   "search_memory",
	"BuildContext":   "search_memory",
	"SearchEpisodes": "search_memory",
	"SearchFacts":    "search_memory",
	"SearchNotes":    "search_memory",
	"CreateFact":     "create_memory",
	"CreateNote":     "create_memory",
	"UpdateFact":     "update_memory",
	"UpdateNote":     "update_memory",
	"DeleteFact":     "delete_memory",
	"DeleteNote":     "delete_memory",
	"Erase":          "delete_memory",
	"Forget":         "delete_memory",
	"Correct":        "update_memory",
}

// tracing makes the spans of one client. Without a configured SDK nothing is recorded or sent.
type tracing struct {
	tracer         trace.Tracer
	server         []attribute.KeyValue
	captureContent bool
}

func newTracing(chosen settings, target string) *tracing {
	made := &tracing{tracer: chosen.tracer, captureContent: strings.EqualFold(os.Getenv(captureVariable), "true")}
	if made.tracer == nil {
		made.tracer = otel.Tracer("github.com/mneme-ai/mneme/clients/go")
	}
	if chosen.captureContent != nil {
		made.captureContent = *chosen.captureContent
	}
	address := target[strings.LastIndex(target, "/")+1:]
	made.server = []attribute.KeyValue{attribute.String("server.address", address)}
	if host, port, err := net.SplitHostPort(address); err == nil {
		if number, err := strconv.Atoi(port); err == nil {
			made.server = []attribute.KeyValue{attribute.String("server.address", host), attribute.Int("server.port", number)}
		}
	}
	return made
}

// callSpan is the span of a call under way.
type callSpan struct {
	span      trace.Span
	operation string
	request   protoreflect.Message
	count     int
}

// start opens a span and returns a context that carries it to the service.
func (t *tracing) start(ctx context.Context, method string, request any) (context.Context, *callSpan) {
	service, rpc, _ := strings.Cut(strings.TrimPrefix(method, "/"), "/")
	attributes := append([]attribute.KeyValue{
		attribute.String("rpc.system", "grpc"),
		attribute.String("rpc.service", service),
		attribute.String("rpc.method", rpc),
	}, t.server...)
	made := &callSpan{operation: operations[rpc]}
	if message, ok := request.(proto.Message); ok {
		made.request = message.ProtoReflect()
	}
	name := service + "/" + rpc
	if made.operation != "" {
		name = made.operation
		attributes = append(attributes, t.ofMemory(made)...)
	}
	ctx, made.span = t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	carrier := propagation.MapCarrier{}
	otel.GetTextMapPropagator().Inject(ctx, carrier)
	for key, value := range carrier {
		ctx = metadata.AppendToOutgoingContext(ctx, key, value)
	}
	return ctx, made
}

func (t *tracing) ofMemory(made *callSpan) []attribute.KeyValue {
	found := []attribute.KeyValue{
		attribute.String("gen_ai.operation.name", made.operation),
		attribute.String("gen_ai.provider.name", "mneme"),
	}
	asked := made.request
	if asked == nil {
		return found
	}
	if field := asked.Descriptor().Fields().ByName("recall"); field != nil { // RecallStream wraps what Recall is asked
		asked = asked.Get(field).Message()
	}
	for _, pair := range [][2]string{
		{"gen_ai.memory.store.id", storeID(asked)},
		{"gen_ai.memory.record.id", text(asked, "fact_id") + text(asked, "note_id")},
		{"gen_ai.conversation.id", text(asked, "conversation_id")},
	} {
		if pair[1] != "" {
			found = append(found, attribute.String(pair[0], pair[1]))
		}
	}
	if query := text(asked, "query"); query != "" && t.captureContent {
		found = append(found, attribute.String("gen_ai.memory.query.text", query))
	}
	return found
}

// responded counts the memories of a response; those of a stream come one after the other.
func (s *callSpan) responded(response any) {
	message, ok := response.(proto.Message)
	if s == nil || s.operation == "" || !ok || !s.span.IsRecording() {
		return
	}
	if s.operation == "delete_memory" && s.request != nil {
		if text(s.request, "fact_id")+text(s.request, "note_id") != "" {
			s.count++
		}
	} else {
		s.count += records(message.ProtoReflect())
	}
	s.span.SetAttributes(attribute.Int("gen_ai.memory.record.count", s.count))
}

func (s *callSpan) end(failure *Error) {
	if s == nil {
		return
	}
	if failure != nil {
		s.span.SetAttributes(attribute.Int("rpc.grpc.status_code", int(failure.Code)), attribute.String("error.type", failure.CodeName()))
		s.span.RecordError(failure)
		s.span.SetStatus(codes.Error, failure.Message)
	} else {
		s.span.SetAttributes(attribute.Int("rpc.grpc.status_code", 0))
	}
	s.span.End()
}

// storeID is the user whose memory is called, where it is one.
func storeID(request protoreflect.Message) string {
	items := request.Descriptor().Fields().ByName("items")
	if items == nil || !items.IsList() || items.Message() == nil {
		return text(request, "user_id")
	}
	users, list := map[string]bool{}, request.Get(items).List()
	for i := range list.Len() {
		users[text(list.Get(i).Message(), "user_id")] = true
	}
	for user := range users {
		if len(users) == 1 {
			return user
		}
	}
	return ""
}

// records counts the memories that a response names.
func records(response protoreflect.Message) int {
	fields := response.Descriptor().Fields()
	if whole := fields.ByName("response"); whole != nil {
		return records(response.Get(whole).Message())
	}
	count := 0
	if results := fields.ByName("results"); results != nil {
		list := response.Get(results).List()
		for i := range list.Len() {
			count += records(list.Get(i).Message())
		}
	}
	for _, name := range []protoreflect.Name{"interactions", "memories", "reasons", "facts", "notes", "hits"} {
		if field := fields.ByName(name); field != nil && field.IsList() {
			count += response.Get(field).List().Len()
		}
	}
	for _, name := range []protoreflect.Name{"fact", "note"} {
		if field := fields.ByName(name); field != nil && response.Has(field) {
			count++
		}
	}
	return count
}

func text(message protoreflect.Message, name protoreflect.Name) string {
	field := message.Descriptor().Fields().ByName(name)
	if field == nil || field.Kind() != protoreflect.StringKind || field.IsList() {
		return ""
	}
	return message.Get(field).String()
}
