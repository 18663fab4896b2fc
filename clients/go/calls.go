package mneme

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// calls are the interceptors of one client's connection.
type calls struct {
	settings settings
	tracing  *tracing
	isClosed func() bool // the connection, whose calls cannot succeed any more
}

func (c *calls) unary(
	ctx context.Context, method string, request, response any, connection *grpc.ClientConn,
	invoke grpc.UnaryInvoker, options ...grpc.CallOption,
) error {
	ctx, cancel := c.within(ctx, c.settings.timeout)
	defer cancel()
	ctx, failure := c.withCredential(ctx, method)
	if failure != nil {
		return failure
	}
	request = withRequestID(request)
	ctx, span := c.tracing.start(ctx, method, request)
	for attempt := 1; ; attempt++ {
		err := invoke(ctx, method, request, response, connection, options...)
		if err == nil {
			span.responded(response)
			span.end(nil)
			return nil
		}
		failure = fromError(err, method)
		if c.isClosed() || !c.settings.retry.wait(ctx, failure, attempt) {
			span.end(failure)
			return failure
		}
	}
}

func (c *calls) stream(
	ctx context.Context, description *grpc.StreamDesc, connection *grpc.ClientConn, method string,
	open grpc.Streamer, options ...grpc.CallOption,
) (grpc.ClientStream, error) {
	timeout := c.settings.timeout
	if long, has := streamTimeouts[method]; has {
		timeout = long
	}
	ctx, cancel := c.within(ctx, timeout)
	ctx, failure := c.withCredential(ctx, method)
	if failure != nil {
		cancel()
		return nil, failure
	}
	made := &stream{
		ctx: ctx, cancel: cancel, method: method, calls: c, sendsMany: description.ClientStreams, receivesMany: description.ServerStreams,
		open: func(ctx context.Context) (grpc.ClientStream, error) {
			return open(ctx, description, connection, method, options...)
		},
	}
	if !made.sendsMany {
		return made, nil // opened with its request
	}
	made.start(nil)
	opened, err := made.open(made.ctx)
	if err != nil {
		return nil, made.end(fromError(err, method))
	}
	made.ClientStream = opened
	return made, nil
}

func (c *calls) within(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if _, has := ctx.Deadline(); has {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}

// withCredential adds the credential as it is now.
func (c *calls) withCredential(ctx context.Context, method string) (context.Context, *Error) {
	if c.settings.credential == nil {
		return ctx, nil
	}
	credential, err := c.settings.credential(ctx)
	if err != nil {
		failure := fromStatus(status.New(codes.Unauthenticated, "no credential: "+err.Error()), strings.TrimPrefix(method, "/"))
		failure.cause = err
		return ctx, failure
	}
	if credential == "" {
		return ctx, nil
	}
	return metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+credential), nil
}

// stream is a call with a stream in one direction or both. One with a single request is repeated if it fails before its
// first response; a stream of requests is not: repeat it with the same request ids.
type stream struct {
	grpc.ClientStream
	ctx          context.Context
	cancel       context.CancelFunc
	method       string
	open         func(context.Context) (grpc.ClientStream, error)
	calls        *calls
	span         *callSpan
	spanEnds     sync.Once
	sendsMany    bool
	receivesMany bool
	request      any
	attempts     int
	hasBegun     bool
}

// start opens the span. It ends with the call, or with the context where the caller leaves the stream before its end.
func (s *stream) start(request any) {
	s.ctx, s.span = s.calls.tracing.start(s.ctx, s.method, request)
	context.AfterFunc(s.ctx, func() {
		s.endSpan(fromError(status.FromContextError(s.ctx.Err()).Err(), s.method))
	})
}

func (s *stream) SendMsg(message any) error {
	message = withRequestID(message)
	if s.sendsMany {
		return s.ClientStream.SendMsg(message)
	}
	s.request = message
	s.start(message)
	return nil // sent by CloseSend, which follows
}

func (s *stream) CloseSend() error {
	if s.sendsMany {
		return s.ClientStream.CloseSend()
	}
	for {
		err := s.attempt()
		if err == nil {
			return nil
		}
		failure := fromError(err, s.method)
		if s.calls.isClosed() || !s.calls.settings.retry.wait(s.ctx, failure, s.attempts) {
			return s.end(failure)
		}
	}
}

func (s *stream) attempt() error {
	s.attempts++
	opened, err := s.open(s.ctx)
	if err != nil {
		return err
	}
	s.ClientStream = opened
	// io.EOF: the stream has ended; RecvMsg says why.
	if err := opened.SendMsg(s.request); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	return opened.CloseSend()
}

func (s *stream) RecvMsg(message any) error {
	for {
		err := s.ClientStream.RecvMsg(message)
		if err == nil {
			s.hasBegun = true
			s.span.responded(message)
			if !s.receivesMany { // the one response of a stream of requests: nobody asks for the end of the stream
				_ = s.end(nil)
			}
			return nil
		}
		if errors.Is(err, io.EOF) {
			_ = s.end(nil)
			return err
		}
		failure := fromError(err, s.method)
		if s.sendsMany || s.hasBegun || s.calls.isClosed() || !s.calls.settings.retry.wait(s.ctx, failure, s.attempts) {
			return s.end(failure)
		}
		if err := s.CloseSend(); err != nil {
			return err
		}
	}
}

// Context is that of the stream.
func (s *stream) Context() context.Context { return s.ctx }

func (s *stream) end(failure *Error) error {
	s.endSpan(failure)
	s.cancel()
	if failure == nil {
		return nil
	}
	return failure
}

func (s *stream) endSpan(failure *Error) { s.spanEnds.Do(func() { s.span.end(failure) }) }

// withRequestID returns the message, or a copy with a new request id where it and its items lack one.
func withRequestID(request any) any {
	message, ok := request.(proto.Message)
	if !ok || !lacksRequestID(message.ProtoReflect()) {
		return request
	}
	filled := proto.Clone(message)
	fillRequestIDs(filled.ProtoReflect())
	return filled
}

func lacksRequestID(message protoreflect.Message) bool {
	lacks := false
	eachOfRequest(message, func(part protoreflect.Message, id protoreflect.FieldDescriptor) {
		lacks = lacks || part.Get(id).String() == ""
	})
	return lacks
}

func fillRequestIDs(message protoreflect.Message) {
	eachOfRequest(message, func(part protoreflect.Message, id protoreflect.FieldDescriptor) {
		if part.Get(id).String() == "" {
			part.Set(id, protoreflect.ValueOfString(uuid.NewString()))
		}
	})
}

// eachOfRequest calls with each message that has a request id: the request, its `item`, or its `items`.
func eachOfRequest(message protoreflect.Message, visit func(protoreflect.Message, protoreflect.FieldDescriptor)) {
	fields := message.Descriptor().Fields()
	if id := fields.ByName("request_id"); id != nil {
		visit(message, id)
		return
	}
	if item := fields.ByName("item"); item != nil && item.Message() != nil && message.Has(item) {
		eachOfRequest(message.Get(item).Message(), visit)
	}
	if items := fields.ByName("items"); items != nil && items.IsList() && items.Message() != nil {
		list := message.Get(items).List()
		for i := range list.Len() {
			eachOfRequest(list.Get(i).Message(), visit)
		}
	}
}
