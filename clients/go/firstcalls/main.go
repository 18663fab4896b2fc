// Command firstcalls makes the first calls of the README from Go.
//
// Usage: firstcalls [host:port]
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	commonv1 "github.com/mneme-ai/mneme/clients/go/mneme/common/v1"
	gatewayv1 "github.com/mneme-ai/mneme/clients/go/mneme/gateway/v1"
)

const (
	user         = "ada"
	conversation = "monday-go"
)

func main() {
	target := "127.0.0.1:7700"
	if len(os.Args) > 1 {
		target = os.Args[1]
	}
	if err := run(target); err != nil {
		log.Fatal(err)
	}
}

func run(target string) error {
	connection, err := grpc.NewClient(target, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer connection.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	memory := gatewayv1.NewMemoryServiceClient(connection)

	remembered, err := memory.Remember(ctx, &gatewayv1.RememberRequest{
		RequestId:      "readme-go-1",
		UserId:         user,
		ConversationId: conversation,
		Turns: []*commonv1.Turn{
			{
				Role:    commonv1.MessageRole_MESSAGE_ROLE_USER,
				Speaker: "Ada",
				Content: "I moved to Lisbon in March, and I am allergic to peanuts.",
			},
			{
				Role:    commonv1.MessageRole_MESSAGE_ROLE_ASSISTANT,
				Content: "Noted. How do you like Lisbon?",
			},
		},
	})
	if err != nil {
		return fmt.Errorf("remember: %w", err)
	}
	fmt.Printf("remembered %d turns\n", len(remembered.GetInteractions()))

	question := &gatewayv1.RecallRequest{
		UserId: user,
		Query:  "Where does Ada live?",
		Limit:  3,
		// The write above is visible to this call.
		ConsistencyToken: remembered.GetConsistencyToken(),
	}
	recalled, err := memory.Recall(ctx, question)
	if err != nil {
		return fmt.Errorf("recall: %w", err)
	}
	for _, found := range recalled.GetMemories() {
		fmt.Printf("recalled %s: %s\n", found.GetTurn().GetSpeaker(), found.GetTurn().GetContent())
	}

	stream, err := memory.RecallStream(ctx, &gatewayv1.RecallStreamRequest{Recall: question})
	if err != nil {
		return fmt.Errorf("recall stream: %w", err)
	}
	messages := 0
	for ; ; messages++ {
		if _, err := stream.Recv(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("recall stream: %w", err)
		}
	}
	fmt.Printf("streamed %t\n", messages > 1)

	prompt, err := memory.BuildContext(ctx, &gatewayv1.BuildContextRequest{
		UserId:      user,
		Query:       "What should we cook tonight?",
		TokenBudget: 400,
	})
	if err != nil {
		return fmt.Errorf("build context: %w", err)
	}
	fmt.Printf("context of at most 400 tokens: %t\n", prompt.GetTokenCount() > 0 && prompt.GetTokenCount() <= 400)

	transcript, err := gatewayv1.NewConversationServiceClient(connection).ListInteractions(
		ctx, &gatewayv1.ListInteractionsRequest{UserId: user, ConversationId: conversation})
	if err != nil {
		return fmt.Errorf("list interactions: %w", err)
	}
	fmt.Printf("transcript begins: %s\n", transcript.GetInteractions()[0].GetTurn().GetContent())
	return nil
}
