package mneme_test

import (
	"context"
	"errors"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	mneme "github.com/mneme-ai/mneme/clients/go"
	gatewayv1 "github.com/mneme-ai/mneme/clients/go/mneme/gateway/v1"
)

func traced() (*tracetest.InMemoryExporter, mneme.Option) {
	exporter := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
	return exporter, mneme.WithTracer(provider.Tracer("test"))
}

func codeOf(err error) codes.Code {
	if failure := (*mneme.Error)(nil); errors.As(err, &failure) {
		return failure.Code
	}
	return codes.OK
}

func TestAStreamOfRequestsWithOneResponseEndsWithIt(t *testing.T) {
	exporter, tracer := traced()
	stream, err := connect(t, &service{}, tracer).Portability.ImportUser(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&gatewayv1.ImportUserRequest{Data: []byte("{}")}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.CloseAndRecv(); err != nil {
		t.Fatal(err)
	}
	if spans := exporter.GetSpans(); len(spans) != 1 || stream.Context().Err() == nil {
		t.Errorf("spans %v, context %v", spans, stream.Context().Err())
	}
}

func TestTheSpanOfAStreamThatIsLeftEndsWithItsContext(t *testing.T) {
	exporter, tracer := traced()
	ctx, cancel := context.WithCancel(context.Background())
	stream, err := connect(t, &service{}, tracer).Memory.RecallStream(ctx, &gatewayv1.RecallStreamRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	for ends := time.Now().Add(10 * time.Second); len(exporter.GetSpans()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(ends) {
			t.Fatal("the span has not ended")
		}
	}
}

func TestFilesOfAUserHaveAnHour(t *testing.T) {
	served := &service{}
	stream, err := connect(t, served).Portability.ExportUser(context.Background(), &gatewayv1.ExportUserRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil || served.remaining < 3_500*time.Second {
		t.Errorf("error %v, deadline in %v", err, served.remaining)
	}
}

func TestCallsOfAClosedClientFailAtOnce(t *testing.T) {
	served := &service{failures: 100}
	slow := mneme.WithRetry(mneme.RetryPolicy{AttemptsMax: 6, InitialBackoff: time.Hour, BackoffMax: time.Hour})
	client := connect(t, served, slow, mneme.WithTimeout(24*time.Hour))
	_ = client.Close()
	for _, call := range []func() error{
		func() error {
			_, err := client.Memory.Remember(context.Background(), &gatewayv1.RememberRequest{})
			return err
		},
		func() error {
			_, err := client.Memory.RecallStream(context.Background(), &gatewayv1.RecallStreamRequest{})
			return err
		},
		func() error { return client.WaitUntilVisible(context.Background(), "ada", "token") },
	} {
		if err := call(); codeOf(err) != codes.Canceled {
			t.Errorf("error %v", err)
		}
	}
}

func TestATokenIsAskedForWithEachCall(t *testing.T) {
	tokens, expired := []string{"first", "second"}, errors.New("expired")
	source := func(context.Context) (string, error) {
		if len(tokens) == 0 {
			return "", expired
		}
		token := tokens[0]
		tokens = tokens[1:]
		return token, nil
	}
	served := &service{}
	client := connect(t, served, mneme.WithTokenSource(source))
	for _, wanted := range []string{"Bearer first", "Bearer second"} {
		if _, err := client.Memory.Remember(context.Background(), &gatewayv1.RememberRequest{}); err != nil {
			t.Fatal(err)
		}
		if got := served.metadata.Get("authorization"); len(got) != 1 || got[0] != wanted {
			t.Errorf("authorization %v", got)
		}
	}
	_, err := client.Memory.Remember(context.Background(), &gatewayv1.RememberRequest{})
	if codeOf(err) != codes.Unauthenticated || !errors.Is(err, expired) {
		t.Errorf("error %v", err)
	}
}

func TestAnInterceptorOfTheCallerReplacesNone(t *testing.T) {
	served, seen := &service{failures: 2}, codes.OK
	around := func(
		ctx context.Context, method string, request, response any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker,
		options ...grpc.CallOption,
	) error {
		err := invoke(ctx, method, request, response, connection, options...)
		seen = codeOf(err)
		return err
	}
	client := connect(t, served, mneme.WithDialOptions(grpc.WithUnaryInterceptor(around)))
	if _, err := client.Memory.Remember(context.Background(), &gatewayv1.RememberRequest{}); err != nil || served.attempts != 3 {
		t.Errorf("error %v after %d attempts", err, served.attempts)
	}
	if _, _ = client.Memory.Recall(context.Background(), &gatewayv1.RecallRequest{}); seen != codes.ResourceExhausted {
		t.Errorf("the caller's interceptor saw %v", seen)
	}
}

func TestWaitingEndsByItselfAndSaysWhatFailed(t *testing.T) {
	defer mneme.SetVisibilityTimeout(50 * time.Millisecond)()
	err := connect(t, &service{}).WaitUntilVisible(context.Background(), "ada", "token")
	if !errors.Is(err, context.DeadlineExceeded) || codeOf(err) != codes.ResourceExhausted {
		t.Errorf("error %v", err)
	}
}
