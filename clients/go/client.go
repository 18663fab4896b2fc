// Package mneme is a client of Mneme, long-term memory for AI agents.
//
// A Client has the generated client of every service of the gateway as a field. Its connection does what the generated
// code does not: a deadline for every call, a request id for every write, repeats of calls that did not reach a server,
// errors as *Error, and spans. Pages iterates over lists.
package mneme

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/otel/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	agenticv1 "github.com/mneme-ai/mneme/clients/go/mneme/agentic/v1"
	episodicv1 "github.com/mneme-ai/mneme/clients/go/mneme/episodic/v1"
	gatewayv1 "github.com/mneme-ai/mneme/clients/go/mneme/gateway/v1"
	semanticv1 "github.com/mneme-ai/mneme/clients/go/mneme/semantic/v1"
	sessionv1 "github.com/mneme-ai/mneme/clients/go/mneme/session/v1"
)

// DefaultTarget is where `mneme up` serves.
const DefaultTarget = "127.0.0.1:7700"

const (
	messageBytesMax       = 64 << 20        // responses have at most 3 MiB, unless an installation allows more
	visibilityCallTimeout = 5 * time.Second // the service waits this long before it responds that a write is not visible
)

// visibilityTimeout is the longest wait of WaitUntilVisible where its context has no deadline.
var visibilityTimeout = 60 * time.Second

// streamTimeouts are the deadlines of calls that take as long as what they read or write, where their context has none.
var streamTimeouts = map[string]time.Duration{
	gatewayv1.MemoryService_RememberStream_FullMethodName:          300 * time.Second,
	gatewayv1.PortabilityService_ExportUser_FullMethodName:         time.Hour,
	gatewayv1.PortabilityService_ImportUser_FullMethodName:         time.Hour,
	episodicv1.ActivityService_RecordActivityStream_FullMethodName: time.Hour,
}

// Client holds one connection. It is safe for use by several goroutines.
type Client struct {
	Activity       episodicv1.ActivityServiceClient
	Audit          gatewayv1.AuditServiceClient
	Clusters       episodicv1.ClusterServiceClient
	Code           semanticv1.CodeServiceClient
	ContextWindows sessionv1.ContextWindowServiceClient
	Conversations  gatewayv1.ConversationServiceClient
	Deliveries     gatewayv1.DeliveryServiceClient
	EmbeddingModel gatewayv1.EmbeddingModelServiceClient
	Episodes       episodicv1.EpisodicServiceClient
	Erasures       gatewayv1.ErasureServiceClient
	Facts          semanticv1.FactServiceClient
	Grants         gatewayv1.GrantServiceClient
	Documents      gatewayv1.DocumentServiceClient
	Insights       agenticv1.InsightServiceClient
	Maintenance    gatewayv1.MaintenanceServiceClient
	Memory         gatewayv1.MemoryServiceClient
	Notes          agenticv1.NoteServiceClient
	Portability    gatewayv1.PortabilityServiceClient
	Procedures     semanticv1.ProcedureServiceClient
	Profiles       semanticv1.ProfileServiceClient
	Sessions       sessionv1.SessionServiceClient
	Supersessions  semanticv1.SupersessionServiceClient

	connection *grpc.ClientConn
	retry      RetryPolicy
}

type settings struct {
	credential     func(context.Context) (string, error)
	credentials    credentials.TransportCredentials
	timeout        time.Duration
	retry          RetryPolicy
	tracer         trace.Tracer
	captureContent *bool
	dial           []grpc.DialOption
}

// Option changes a setting of a client.
type Option func(*settings)

// WithAPIKey sets the credential. Without it calls carry none, as a service in development mode allows.
func WithAPIKey(key string) Option {
	return WithTokenSource(func(context.Context) (string, error) { return key, nil })
}

// WithTokenSource sets what the credential of each call is asked for, such as a token of an identity provider that is
// renewed before it expires. It is called by several goroutines, with the context of the call. Where it fails, the call fails
// with codes.Unauthenticated, and errors.Is finds what it failed with.
func WithTokenSource(source func(context.Context) (string, error)) Option {
	return func(s *settings) { s.credential = source }
}

// WithTLS encrypts the connection; an empty configuration trusts the system's certificate authorities. For mutual TLS it
// has the client's certificate.
func WithTLS(config *tls.Config) Option {
	return func(s *settings) { s.credentials = credentials.NewTLS(config) }
}

// WithTimeout sets the deadline of calls whose context has none, repeats included. 10 s by default. RememberStream has 300 s,
// and ExportUser, ImportUser and RecordActivityStream have an hour.
func WithTimeout(timeout time.Duration) Option { return func(s *settings) { s.timeout = timeout } }

// WithRetry sets when and how often a failed call is repeated.
func WithRetry(policy RetryPolicy) Option { return func(s *settings) { s.retry = policy } }

// WithTracer sets what makes the spans of calls; by default it is a tracer of OpenTelemetry's global provider.
func WithTracer(tracer trace.Tracer) Option { return func(s *settings) { s.tracer = tracer } }

// WithCaptureContent says whether spans hold the text of queries. By default they do only where the environment
// variable OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT is "true".
func WithCaptureContent(captured bool) Option {
	return func(s *settings) { s.captureContent = &captured }
}

// WithDialOptions adds options of gRPC. Interceptors among them are called around those of the client or inside of them, and
// replace none.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) { s.dial = append(s.dial, options...) }
}

// NewClient describes a connection to the gateway; the first call opens it.
//
// The target is an address as gRPC writes them, such as "127.0.0.1:7700". It fails where the target cannot be read.
func NewClient(target string, options ...Option) (*Client, error) {
	chosen := settings{credentials: insecure.NewCredentials(), timeout: 10 * time.Second, retry: DefaultRetry}
	for _, option := range options {
		option(&chosen)
	}
	calls := &calls{settings: chosen, tracing: newTracing(chosen, target)}
	dial := append([]grpc.DialOption{
		grpc.WithTransportCredentials(chosen.credentials),
		grpc.WithChainUnaryInterceptor(calls.unary),
		grpc.WithChainStreamInterceptor(calls.stream),
		grpc.WithDisableRetry(), // repeats are the client's, which knows the delay that the service asks for
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(messageBytesMax)),
		// Spreads calls over all addresses of a name; with one address it changes nothing.
		grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [{"round_robin": {}}]}`),
		// A restarted server is found again within seconds instead of up to two minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 100 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: 2 * time.Second,
		}),
		// A connection whose other end vanished without a word is given up after 70 s, not after a quarter of an hour.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 60 * time.Second, Timeout: 10 * time.Second}),
	}, chosen.dial...)
	connection, err := grpc.NewClient(target, dial...)
	if err != nil {
		return nil, fmt.Errorf("target %q: %w", target, err)
	}
	calls.isClosed = func() bool { return isClosed(connection) }
	return &Client{
		Activity:       episodicv1.NewActivityServiceClient(connection),
		Audit:          gatewayv1.NewAuditServiceClient(connection),
		Clusters:       episodicv1.NewClusterServiceClient(connection),
		Code:           semanticv1.NewCodeServiceClient(connection),
		ContextWindows: sessionv1.NewContextWindowServiceClient(connection),
		Conversations:  gatewayv1.NewConversationServiceClient(connection),
		Deliveries:     gatewayv1.NewDeliveryServiceClient(connection),
		EmbeddingModel: gatewayv1.NewEmbeddingModelServiceClient(connection),
		Episodes:       episodicv1.NewEpisodicServiceClient(connection),
		Erasures:       gatewayv1.NewErasureServiceClient(connection),
		Facts:          semanticv1.NewFactServiceClient(connection),
		Grants:         gatewayv1.NewGrantServiceClient(connection),
		Documents:      gatewayv1.NewDocumentServiceClient(connection),
		Insights:       agenticv1.NewInsightServiceClient(connection),
		Maintenance:    gatewayv1.NewMaintenanceServiceClient(connection),
		Memory:         gatewayv1.NewMemoryServiceClient(connection),
		Notes:          agenticv1.NewNoteServiceClient(connection),
		Portability:    gatewayv1.NewPortabilityServiceClient(connection),
		Procedures:     semanticv1.NewProcedureServiceClient(connection),
		Profiles:       semanticv1.NewProfileServiceClient(connection),
		Sessions:       sessionv1.NewSessionServiceClient(connection),
		Supersessions:  semanticv1.NewSupersessionServiceClient(connection),
		connection:     connection,
		retry:          chosen.retry,
	}, nil
}

// Close closes the connection; calls under way, and later ones, fail with codes.Canceled.
func (c *Client) Close() error { return c.connection.Close() }

// WaitUntilVisible returns when the writes of a consistency token can be found, and fails when the context ends, or after 60 s
// where it has no deadline.
func (c *Client) WaitUntilVisible(ctx context.Context, userID, token string) error {
	if _, has := ctx.Deadline(); !has {
		limited, cancel := context.WithTimeout(ctx, visibilityTimeout)
		defer cancel()
		ctx = limited
	}
	var last error
	for {
		call, cancel := context.WithTimeout(ctx, visibilityCallTimeout)
		// Any query will do: only `consistent` of the response is read.
		request := &gatewayv1.RecallRequest{UserId: userID, Query: "hello", Limit: 1, ConsistencyToken: token}
		response, err := c.Memory.Recall(call, request)
		cancel()
		failure := (*Error)(nil)
		if err != nil && (!errors.As(err, &failure) || !failure.Retryable() || isClosed(c.connection)) {
			return err
		}
		if err == nil && response.GetConsistent() {
			return nil
		}
		if err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return errors.Join(fmt.Errorf("not visible yet: %w", ctx.Err()), last)
		case <-time.After(c.retry.InitialBackoff):
		}
	}
}

func isClosed(connection *grpc.ClientConn) bool {
	return connection.GetState() == connectivity.Shutdown
}
