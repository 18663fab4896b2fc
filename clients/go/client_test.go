package mneme_test

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/types/known/durationpb"

	mneme "github.com/mneme-ai/mneme/clients/go"
	gatewayv1 "github.com/mneme-ai/mneme/clients/go/mneme/gateway/v1"
)

// service fails its first calls with UNAVAILABLE.
type service struct {
	gatewayv1.UnimplementedMemoryServiceServer
	gatewayv1.UnimplementedConversationServiceServer
	gatewayv1.UnimplementedPortabilityServiceServer
	failures   int
	attempts   int
	requestIDs []string
	metadata   metadata.MD
	remaining  time.Duration
}

func (s *service) unavailable(ctx context.Context) error {
	s.attempts++
	s.metadata, _ = metadata.FromIncomingContext(ctx)
	deadline, _ := ctx.Deadline()
	s.remaining = time.Until(deadline)
	if s.attempts <= s.failures {
		return status.Error(codes.Unavailable, "restarting")
	}
	return nil
}

func (s *service) Remember(ctx context.Context, request *gatewayv1.RememberRequest) (*gatewayv1.RememberResponse, error) {
	s.requestIDs = append(s.requestIDs, request.GetRequestId())
	if err := s.unavailable(ctx); err != nil {
		return nil, err
	}
	return &gatewayv1.RememberResponse{Interactions: make([]*gatewayv1.InteractionReference, 2)}, nil
}

func (s *service) RememberBatch(_ context.Context, request *gatewayv1.RememberBatchRequest) (*gatewayv1.RememberBatchResponse, error) {
	for _, item := range request.GetItems() {
		s.requestIDs = append(s.requestIDs, item.GetRequestId())
	}
	return &gatewayv1.RememberBatchResponse{}, nil
}

func (s *service) Recall(context.Context, *gatewayv1.RecallRequest) (*gatewayv1.RecallResponse, error) {
	failed, _ := status.New(codes.ResourceExhausted, "slow down").WithDetails(
		&errdetails.ErrorInfo{Reason: "RATE_LIMITED", Domain: "mneme", Metadata: map[string]string{"limit": "5"}},
		&errdetails.BadRequest{FieldViolations: []*errdetails.BadRequest_FieldViolation{{Field: "query", Description: "is long"}}},
		&errdetails.RetryInfo{RetryDelay: durationpb.New(1500 * time.Millisecond)},
	)
	return nil, failed.Err()
}

func (s *service) RecallStream(_ *gatewayv1.RecallStreamRequest, stream grpc.ServerStreamingServer[gatewayv1.RecallStreamResponse]) error {
	if err := s.unavailable(stream.Context()); err != nil {
		return err
	}
	return stream.Send(&gatewayv1.RecallStreamResponse{})
}

func (s *service) ListConversations(_ context.Context, request *gatewayv1.ListConversationsRequest) (*gatewayv1.ListConversationsResponse, error) {
	next := map[string]string{"": "b", "b": "c", "c": ""}[request.GetPageToken()]
	found := &gatewayv1.Conversation{ConversationId: "after " + request.GetPageToken()}
	return &gatewayv1.ListConversationsResponse{Conversations: []*gatewayv1.Conversation{found}, NextPageToken: next}, nil
}

func (s *service) ExportUser(_ *gatewayv1.ExportUserRequest, stream grpc.ServerStreamingServer[gatewayv1.ExportUserResponse]) error {
	if err := s.unavailable(stream.Context()); err != nil {
		return err
	}
	return stream.Send(&gatewayv1.ExportUserResponse{})
}

func (s *service) ImportUser(stream grpc.ClientStreamingServer[gatewayv1.ImportUserRequest, gatewayv1.ImportUserResponse]) error {
	for {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			return stream.SendAndClose(&gatewayv1.ImportUserResponse{})
		} else if err != nil {
			return err
		}
	}
}

func connect(t *testing.T, served *service, options ...mneme.Option) *mneme.Client {
	t.Helper()
	listener, server := bufconn.Listen(1<<20), grpc.NewServer()
	gatewayv1.RegisterMemoryServiceServer(server, served)
	gatewayv1.RegisterConversationServiceServer(server, served)
	gatewayv1.RegisterPortabilityServiceServer(server, served)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	dial := mneme.WithDialOptions(
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(context.Context, string) (net.Conn, error) { return listener.Dial() }),
	)
	quick := mneme.WithRetry(mneme.RetryPolicy{AttemptsMax: 4, InitialBackoff: time.Millisecond, BackoffMax: time.Millisecond})
	client, err := mneme.NewClient("passthrough:///memory", append([]mneme.Option{dial, quick}, options...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func TestRepeatsWithTheSameRequestID(t *testing.T) {
	served := &service{failures: 2}
	client := connect(t, served, mneme.WithAPIKey("key"), mneme.WithTimeout(7*time.Second))
	request := &gatewayv1.RememberRequest{UserId: "ada"}
	if _, err := client.Memory.Remember(context.Background(), request); err != nil {
		t.Fatal(err)
	}
	ids := served.requestIDs
	if len(ids) != 3 || ids[0] == "" || ids[0] != ids[1] || ids[1] != ids[2] {
		t.Errorf("request ids %v", ids)
	}
	if request.GetRequestId() != "" {
		t.Error("the caller's request was changed")
	}
	if got := served.metadata.Get("authorization"); len(got) != 1 || got[0] != "Bearer key" {
		t.Errorf("authorization %v", got)
	}
	if served.remaining <= 0 || served.remaining > 7*time.Second {
		t.Errorf("deadline in %v", served.remaining)
	}
}

func TestGivesUpAfterTheLastAttempt(t *testing.T) {
	served := &service{failures: 100}
	_, err := connect(t, served).Memory.Remember(context.Background(), &gatewayv1.RememberRequest{})
	if failure := (*mneme.Error)(nil); !errors.As(err, &failure) || failure.CodeName() != "UNAVAILABLE" || !failure.Retryable() {
		t.Errorf("error %v", err)
	}
	if served.attempts != 4 {
		t.Errorf("%d attempts", served.attempts)
	}
}

func TestItemsOfABatchHaveRequestIDs(t *testing.T) {
	served := &service{}
	items := []*gatewayv1.RememberRequest{{}, {RequestId: "mine"}}
	if _, err := connect(t, served).Memory.RememberBatch(context.Background(), &gatewayv1.RememberBatchRequest{Items: items}); err != nil {
		t.Fatal(err)
	}
	if len(served.requestIDs) != 2 || served.requestIDs[0] == "" || served.requestIDs[1] != "mine" {
		t.Errorf("request ids %v", served.requestIDs)
	}
}

func TestErrorsHaveTheServicesFacts(t *testing.T) {
	_, err := connect(t, &service{}).Memory.Recall(context.Background(), &gatewayv1.RecallRequest{})
	failure := (*mneme.Error)(nil)
	if !errors.As(err, &failure) {
		t.Fatalf("error %v", err)
	}
	if failure.Reason != "RATE_LIMITED" || failure.Metadata["limit"] != "5" || failure.RetryAfter != 1500*time.Millisecond ||
		failure.Violations[0].FieldPath != "query" || failure.Method != "mneme.gateway.v1.MemoryService/Recall" || !failure.Retryable() {
		t.Errorf("error %+v", failure)
	}
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("status %v", status.Code(err))
	}
}

func TestAStreamIsRepeatedBeforeItsFirstResponse(t *testing.T) {
	served := &service{failures: 2}
	stream, err := connect(t, served).Memory.RecallStream(context.Background(), &gatewayv1.RecallStreamRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil || served.attempts != 3 {
		t.Errorf("error %v after %d attempts", err, served.attempts)
	}
}

func TestPagesAreFetchedAsTheyAreNeeded(t *testing.T) {
	client, request := connect(t, &service{}), &gatewayv1.ListConversationsRequest{}
	found := []string{}
	items := (*gatewayv1.ListConversationsResponse).GetConversations
	for conversation, err := range mneme.Pages(context.Background(), client.Conversations.ListConversations, request, items) {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, conversation.GetConversationId())
	}
	if len(found) != 3 || found[2] != "after c" || request.GetPageToken() != "" {
		t.Errorf("pages %v", found)
	}
}

func TestSpansFollowTheConventionsForMemory(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	client := connect(t, &service{}, mneme.WithTracer(provider.Tracer("test")), mneme.WithCaptureContent(true))
	_, _ = client.Memory.Remember(context.Background(), &gatewayv1.RememberRequest{UserId: "ada", ConversationId: "monday"})
	_, _ = client.Memory.Recall(context.Background(), &gatewayv1.RecallRequest{UserId: "ada", Query: "Where?"})
	spans := exporter.GetSpans()
	if len(spans) != 2 || spans[0].Name != "upsert_memory" || spans[1].Name != "search_memory" {
		t.Fatalf("spans %v", spans)
	}
	wanted := []map[string]string{
		{"gen_ai.operation.name": "upsert_memory", "gen_ai.memory.store.id": "ada", "gen_ai.conversation.id": "monday",
			"gen_ai.memory.record.count": "2", "rpc.grpc.status_code": "0", "rpc.method": "Remember"},
		{"gen_ai.memory.query.text": "Where?", "rpc.grpc.status_code": "8", "error.type": "RESOURCE_EXHAUSTED"},
	}
	for i, attributes := range wanted {
		found := map[string]string{}
		for _, pair := range spans[i].Attributes {
			found[string(pair.Key)] = pair.Value.Emit()
		}
		for key, value := range attributes {
			if found[key] != value {
				t.Errorf("%s is %q, not %q", key, found[key], value)
			}
		}
	}
}
